"""Basis functions against the kernel they stand for, and the kernel against its networks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf

from momentdag.engines.evidence.local.features import (
    FeatureMap,
    Kernel,
    members,
)
from momentdag.engines.evidence.local.inputs import LevelScale, RankScale
from momentdag.engines.evidence.local.tuning import TUNING

NETWORK = Kernel("network", 1.5, bias=0.3)
KERNELS = [
    NETWORK,
    Kernel("network", 0.7, bias=0.1, linear=0.25),
    Kernel("rbf", 1.2, linear=0.25),
    Kernel("rbf", 0.8),
]
N, D, M = 120, 3, 30


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    # Skewed, so that ranks and values are different inputs.
    raw = np.exp(0.5 * np.random.default_rng(0).normal(size=(N, D)))
    return (raw - raw.mean(axis=0)) / raw.std(axis=0)


def feature_map(
    values: np.ndarray, kernel: Kernel = NETWORK, ranks: bool = False, **options: object
) -> FeatureMap:
    rows = np.random.default_rng(1).choice(len(values), M, replace=False)
    scales = tuple(map(RankScale.of, values.T)) if ranks else None
    return FeatureMap(values, kernel, rows, TUNING.mean_detail, scales, **options)


@given(st.sets(st.integers(0, 70)))
def test_members_are_the_bits(indices: set[int]) -> None:
    assert members(sum(1 << i for i in indices)) == sorted(indices)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("mask", [0b001, 0b110, 0b111])
def test_functions_are_orthonormal_with_an_intercept(
    values: np.ndarray, kernel: Kernel, mask: int
) -> None:
    functions, variances = feature_map(values, kernel)(mask)
    assert functions.shape == (N, len(variances))
    assert 2 < functions.shape[1] <= 1 + M
    np.testing.assert_array_equal(functions[:, 0], 1 / np.sqrt(N))
    # Dividing by the root of an eigenvalue at least TUNING.mean_detail of the largest amplifies the
    # rounding of the Gram matrix, 1e-16 N, by 1 / TUNING.mean_detail: about 1e-8.
    np.testing.assert_allclose(functions.T @ functions, np.eye(len(variances)), atol=1e-7)
    assert (variances > 0).all()


def test_a_coarser_detail_drops_only_the_small_directions(values: np.ndarray) -> None:
    rows = np.arange(M)
    fine = FeatureMap(values, NETWORK, rows, TUNING.mean_detail)(0b11).variances[1:]
    coarse = FeatureMap(values, NETWORK, rows, TUNING.scale_detail)(0b11).variances[1:]
    assert len(coarse) < len(fine)
    # Variances sum to n each; what was dropped is too little to change that visibly.
    np.testing.assert_allclose(coarse, fine[len(fine) - len(coarse) :], rtol=1e-3)
    np.testing.assert_allclose([coarse.sum(), fine.sum()], N)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_all_rows_inducing_reproduce_the_centred_kernel(values: np.ndarray, kernel: Kernel) -> None:
    functions, variances = FeatureMap(values, kernel, np.arange(N), TUNING.mean_detail)(0b101)
    exact = kernel(values[:, [0, 2]], values[:, [0, 2]])
    centring = np.eye(N) - 1 / N
    exact = centring @ exact @ centring
    exact *= N / np.trace(exact)  # amplitude one is variance one over the sample
    rebuilt = (functions[:, 1:] * variances[1:]) @ functions[:, 1:].T
    # What is left out are directions with eigenvalue up to mean_detail N before both are scaled to
    # trace n, by a factor of at most some tens; the jitter is less than that.
    error = np.linalg.norm(rebuilt - exact, ord=2)
    assert error < 50 * TUNING.mean_detail * N
    assert np.linalg.norm(exact, ord=2) > 1e4 * error


def test_few_inducing_rows_never_claim_more_than_the_kernel(values: np.ndarray) -> None:
    functions, variances = feature_map(values)(0b011)
    centring = np.eye(N) - 1 / N
    exact = centring @ NETWORK(values[:, :2], values[:, :2]) @ centring
    raw, _ = feature_map(values)._nystroem(values[:, :2])
    scale = np.square(raw - raw.mean(axis=0)).sum() / N  # undo the scaling to variance one
    rebuilt = scale * (functions[:, 1:] * variances[1:]) @ functions[:, 1:].T
    missing = np.linalg.eigvalsh(exact - rebuilt)
    # The Nystroem approximation is a projection, so what it misses is a covariance itself.
    # Dropped directions are made up for by the scale, hence the margin.
    assert missing[0] > -1e-4 * N
    assert np.trace(exact - rebuilt) < 0.05 * np.trace(exact)


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("mask", [0, 0b010, 0b101])
def test_projection_of_the_sample_is_the_basis(values: np.ndarray, ranks: bool, mask: int) -> None:
    features = feature_map(values, ranks=ranks)
    some = np.array([17, 3, 99])
    # As for orthonormality: small directions amplify the rounding of the kernel.
    np.testing.assert_allclose(
        features.project(mask, values[some]), features(mask).functions[some], atol=1e-7
    )
    assert features.project(mask, values + 0.1).shape == features(mask).functions.shape


def test_projection_depends_on_the_parents_only(values: np.ndarray) -> None:
    features = feature_map(values)
    new = values[:5] + 0.3
    other = new.copy()
    other[:, 1] += 1.0
    np.testing.assert_array_equal(features.project(0b101, new), features.project(0b101, other))
    assert np.abs(features.project(0b010, new) - features.project(0b010, other)).max() > 0.01


def test_projection_is_continuous_along_an_input(values: np.ndarray) -> None:
    line = np.zeros((400, D))
    line[:, 0] = np.linspace(-2, 2, 400)
    path = feature_map(values).project(0b001, line)
    moved, jumps = np.ptp(path, axis=0)[1:], np.abs(np.diff(path, axis=0)).max(axis=0)[1:]
    # The wildest of these functions has some ten oscillations on 400 points.
    assert (jumps < 0.25 * moved).all()
    assert (moved > 0).all()


def test_ranks_ignore_monotone_maps(values: np.ndarray) -> None:
    by_ranks = feature_map(values, ranks=True)(0b011).functions
    np.testing.assert_array_equal(feature_map(values**3, ranks=True)(0b011).functions, by_ranks)
    plain = feature_map(values)(0b011).functions
    assert plain.shape != by_ranks.shape or np.abs(plain - by_ranks).max() > 0.01


def test_network_kernel_is_the_covariance_of_erf_networks() -> None:
    """Compare with E[erf(b + u'x) erf(b + u'z)], u ~ N(0, scale² I), b ~ N(0, bias)."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5, 2))
    kernel = Kernel("network", 1.3, bias=0.6)
    n_units = 200_000
    units = erf(
        rng.normal(size=(n_units, 2)) * kernel.scale @ x.T
        + rng.normal(size=(n_units, 1)) * np.sqrt(kernel.bias)
    )
    # A product of two units lies in [-1, 1]: five standard errors of its mean.
    np.testing.assert_allclose(kernel(x, x), units.T @ units / n_units, atol=5 / np.sqrt(n_units))


def test_rbf_and_linear_parts_by_hand() -> None:
    x, z = np.array([[1.0, 2.0]]), np.array([[0.0, -1.0]])
    kernel = Kernel("rbf", 1.5, linear=0.25)
    expected = np.exp(-0.5 * 10 / (1.5**2 * 2)) + 0.25 * -2
    np.testing.assert_allclose(kernel(x, z), [[expected]])
    network = Kernel("network", 1.5, bias=0.3)
    added = Kernel("network", 1.5, bias=0.3, linear=0.5)(x, z) - network(x, z)
    np.testing.assert_allclose(added, [[0.5 * -2]])


def test_memory_budget_evicts_and_recomputes_the_same_bits(values: np.ndarray) -> None:
    one = feature_map(values)(0b111).functions.nbytes
    small, large = feature_map(values, budget_bytes=2 * one), feature_map(values)
    first = {mask: large(mask) for mask in range(8)}
    assert all(large(mask) is first[mask] for mask in range(8))
    kept = [small(mask) for mask in range(8)]
    assert small(1) is not kept[1]
    assert small(7) is kept[7]
    for _ in range(2):
        for mask, basis in first.items():
            again = small(mask)
            np.testing.assert_array_equal(again.functions, basis.functions)
            np.testing.assert_array_equal(again.variances, basis.variances)


def test_a_basis_larger_than_the_budget_is_still_given(values: np.ndarray) -> None:
    tiny = feature_map(values, budget_bytes=1)
    np.testing.assert_array_equal(tiny(3).functions, feature_map(values)(3).functions)
    assert tiny(3) is tiny(3)


def test_repeated_inducing_rows_do_no_harm(values: np.ndarray) -> None:
    rows = np.arange(M)
    once = FeatureMap(values, NETWORK, rows, TUNING.scale_detail)(0b011)
    twice = FeatureMap(values, NETWORK, np.concatenate([rows, rows]), TUNING.scale_detail)(0b011)
    # The jitter, 1e-7 of the diagonal, weighs differently on a row that comes twice; where it
    # competes with the smallest kept share, scale_detail, it may move a variance by that share.
    largest = slice(-5, None)
    np.testing.assert_allclose(twice.variances[largest], once.variances[largest], rtol=1e-3)


def test_an_improper_kernel_is_refused(values: np.ndarray) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        feature_map(values, Kernel("rbf", 1.0, linear=-5.0))(0b011)


@pytest.mark.parametrize("kernel", [NETWORK, Kernel("rbf", 1.2, linear=0.25)])
def test_a_category_is_one_grouped_variable(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, N)
    values = np.column_stack([codes.astype(float), rng.normal(size=N)])
    scales = (LevelScale.of(values[:, 0]), None)
    rows = np.arange(0, N, 4)
    features = FeatureMap(values, kernel, rows, TUNING.mean_detail, scales)
    functions, variances = features(0b01)
    # One function for each level, less the constant; which code a level has does not matter.
    assert functions.shape == (N, 4)
    assert variances[1:].std() < 0.5 * variances[1:].mean()
    levels = np.array([functions[codes == k] for k in range(4)], dtype=object)
    assert all(np.allclose(np.ptp(level.astype(float), axis=0), 0) for level in levels)
    other = np.array([2.0, 0.0, 3.0, 1.0])[codes]
    renamed = FeatureMap(
        np.column_stack([other, values[:, 1]]),
        kernel,
        rows,
        TUNING.mean_detail,
        (LevelScale.of(other), None),
    )
    for mask in (0b01, 0b11):
        a, b = features(mask), renamed(mask)
        gram = [(x.functions * x.variances) @ x.functions.T for x in (a, b)]
        np.testing.assert_allclose(gram[0], gram[1], atol=1e-6 * np.abs(gram[0]).max())
        np.testing.assert_allclose(features.project(mask, values), a.functions, atol=1e-6)
