import jax
import numpy as np

from momentdag.engines.variational.relaxation import soft_edges, soft_permutation

TAU = 0.7


def test_edges_are_the_printed_gumbel_softmax():
    """Appendix C.1 with two classes: only the difference of the two Gumbel variables matters."""
    rng = np.random.default_rng(0)
    phi, g0, g1 = rng.uniform(0.05, 0.95, size=(3, 3)), *rng.gumbel(size=(2, 3, 3))
    present, absent = np.exp((np.log(phi) + g1) / TAU), np.exp((np.log(1 - phi) + g0) / TAU)
    logits = np.log(phi / (1 - phi))
    relaxed = jax.jit(lambda: soft_edges(logits, g1 - g0, TAU, straight=False))()
    np.testing.assert_allclose(relaxed, present / (present + absent), rtol=1e-5)  # float32
    hard = jax.jit(lambda: soft_edges(logits, g1 - g0, TAU, straight=True))()
    np.testing.assert_allclose(hard, present > absent, atol=1e-6)


def test_permutations_are_the_printed_softsort():
    """`eq-softsort` with the L1 distance, row by row of the sorted scores."""
    for d in (2, 3):
        v = np.random.default_rng(d).normal(size=d)
        order = np.argsort(v)
        expected = np.exp(-np.abs(np.sort(v)[:, None] - v[None, :]) / TAU)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(soft_permutation(v, order, TAU), expected, rtol=1e-5)
