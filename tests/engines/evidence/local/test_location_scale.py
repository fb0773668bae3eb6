"""Local evidences against numerical integration, and what they prefer."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from momentdag.engines.evidence.local.features import (
    Basis,
    FeatureMap,
    Kernel,
)
from momentdag.engines.evidence.local.location_scale import LocalFit, LocalScorer, NoiseFamily
from momentdag.engines.evidence.local.noise.density import fit_noise
from momentdag.engines.evidence.local.noise.shapes import SYMMETRIC, log_likelihoods
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.local.tuning import TUNING
from momentdag.simulate import preset

NETWORK = Kernel("network", 1.5, bias=0.3)
NOISES: list[NoiseFamily] = ["gaussian", "student", "flexible"]
# Amplitudes and their prior probabilities.
MEAN_AMPLITUDES = {0.5: 0.3, 2.0: 0.5, 8.0: 0.2}


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def scorer(
    values: np.ndarray,
    noise: NoiseFamily = "gaussian",
    n_inducing: int = 40,
    mean_kernel: Kernel = NETWORK,
    variance_kernel: Kernel = NETWORK,
    **amplitudes: dict[float, float],
) -> LocalScorer:
    tuning = replace(TUNING, **{name: tuple(own.items()) for name, own in amplitudes.items()})
    rows = np.random.default_rng(0).choice(len(values), n_inducing, replace=False)
    return LocalScorer(
        values,
        FeatureMap(values, mean_kernel, rows, TUNING.mean_detail),
        FeatureMap(values, variance_kernel, rows, TUNING.scale_detail),
        noise,
        tuning,
    )


def homoscedastic(seed: int, n: int) -> np.ndarray:
    """Variable 2 depends on 0 and a little on 1 in its mean."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3))
    values[:, 2] = np.tanh(1.5 * values[:, 0]) + 0.4 * values[:, 0] * values[:, 1]
    values[:, 2] += 0.5 * rng.normal(size=n)
    return standardised(values)


def heteroscedastic(seed: int, n: int) -> np.ndarray:
    """Variable 3 has mean parent 0 and variance parent 1; 2 has nothing to do with it."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 4))
    scale = np.exp(0.9 * np.sin(values[:, 1]) - 0.5)
    values[:, 3] = np.tanh(1.5 * values[:, 0]) + scale * rng.normal(size=n)
    return standardised(values)


def integrated_evidence(y: np.ndarray, basis: Basis, amplitudes: dict[float, float]) -> float:
    """Average over amplitudes of ∫ N(y; 0, Q V Q' + e^{2η} I) N(η; 0, v₀ / n) dη."""
    Q, variances = basis
    n, r = Q.shape
    projection = Q.T @ y
    rest = float(y @ y - projection @ projection)
    log_std = np.linspace(-6, 3, 6001)[:, None]
    noise = np.exp(2 * log_std)
    prior = variances[0] / n
    log_prior = -0.5 * (log_std[:, 0] ** 2 / prior + np.log(2 * np.pi * prior))
    values = []
    for amplitude, share in amplitudes.items():
        total = variances * np.append(1.0, np.full(r - 1, amplitude)) + noise
        inside = -0.5 * (np.log(2 * np.pi * total) + projection**2 / total).sum(axis=1)
        outside = -0.5 * ((n - r) * np.log(2 * np.pi * noise) + rest / noise)[:, 0]
        values.append(logsumexp(inside + outside + log_prior) + np.log(share))
    return float(logsumexp(values) + np.log(9 / 6000))


@pytest.mark.parametrize("mask", [0b00, 0b01, 0b10, 0b11])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_homoscedastic_evidence_against_integration(seed: int, mask: int) -> None:
    local = scorer(homoscedastic(seed, 150), mean_amplitudes=MEAN_AMPLITUDES)
    fit = local.fit(2, Parents(mask, 0))
    expected = integrated_evidence(local.columns[2], local.mean_features(mask), MEAN_AMPLITUDES)
    # Laplace in one dimension errs by O(1 / n); counting the n rows instead of the n - r degrees
    # of freedom in its curvature by ½ log(1 - r / n), at r = 20 about 0.07. A log sd within 0.04
    # of its fixed point costs n 0.04² = 0.24.
    assert fit.log_evidence == pytest.approx(expected, abs=0.4)


def test_homoscedastic_evidence_of_a_strong_parent_with_the_usual_amplitudes() -> None:
    local = scorer(homoscedastic(1, 150))
    fit = local.fit(2, Parents(0b01, 0))
    basis = local.mean_features(0b01)
    expected = integrated_evidence(local.columns[2], basis, dict(TUNING.mean_amplitudes))
    # As above; amplitudes far from the best one have no share in the average.
    assert fit.log_evidence == pytest.approx(expected, abs=0.4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_single_amplitude_counts_once(seed: int) -> None:
    local = scorer(homoscedastic(seed, 150), mean_amplitudes={2.0: 1.0})
    fit = local.fit(2, Parents(0b01, 0))
    expected = integrated_evidence(local.columns[2], local.mean_features(0b01), {2.0: 1.0})
    # As above; counted twice, it would be log 2 too much.
    assert fit.log_evidence == pytest.approx(expected, abs=0.4)


def sampled_evidence(
    rng: np.random.Generator,
    local: LocalScorer,
    variable: int,
    parents: Parents,
    fit: LocalFit,
    n_draws: int,
) -> tuple[float, float]:
    """Importance sampling over u, with w integrated out; return log evidence and sample size."""
    y = local.columns[variable]
    Q, mean_variances = local.mean_features(parents.mean)
    P, scale_variances = local.variance_features(parents.variance)
    prior_u = scale_variances * np.append(1.0, np.full(len(scale_variances) - 1, 1.2))
    centre, spread = local.scale_posterior(fit, parents)
    spread = 1.2 * np.sqrt(spread)
    z = rng.normal(size=(n_draws, len(centre)))
    u = centre + spread * z
    log_ratio = 0.5 * (z * z - u * u / prior_u).sum(axis=1)
    log_ratio += (np.log(spread) - 0.5 * np.log(prior_u)).sum()
    log_std = u @ P.T
    precision = np.exp(-2 * log_std)
    outer = (Q[:, :, None] * Q[:, None, :]).reshape(len(y), -1)
    gram = (precision @ outer).reshape(n_draws, Q.shape[1], Q.shape[1])
    target = (precision * y) @ Q
    by_amplitude = []
    for amplitude, share in MEAN_AMPLITUDES.items():
        prior_w = mean_variances * np.append(1.0, np.full(len(mean_variances) - 1, amplitude))
        H = gram + np.diag(1 / prior_w)
        w = np.linalg.solve(H, target[..., None])[..., 0]
        # log N(y; 0, Q V Q' + D^-1) by Woodbury and the determinant lemma.
        by_amplitude.append(
            np.log(share)
            - 0.5 * len(y) * np.log(2 * np.pi)
            - log_std.sum(axis=1)
            - 0.5 * (precision @ (y * y) - (target * w).sum(axis=1))
            - 0.5 * (np.linalg.slogdet(H)[1] + np.log(prior_w).sum())
        )
    log_weights = logsumexp(by_amplitude, axis=0) + log_ratio
    effective = np.exp(2 * logsumexp(log_weights) - logsumexp(2 * log_weights))
    return float(logsumexp(log_weights) - np.log(n_draws)), float(effective)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_heteroscedastic_evidence_against_importance_sampling(seed: int) -> None:
    local = scorer(
        heteroscedastic(seed, 80),
        n_inducing=8,
        mean_amplitudes=MEAN_AMPLITUDES,
        scale_amplitudes={1.2: 1.0},
    )
    rng = np.random.default_rng(seed)
    errors = {}
    for parents in [Parents(1, 2), Parents(1, 0), Parents(1, 4), Parents(0, 2), Parents(3, 3)]:
        fit = local.fit(3, parents)
        sampled, effective = sampled_evidence(rng, local, 3, parents, fit, 5000)
        # Importance sampling with this many effective draws errs by 1 / sqrt(1000) = 0.03.
        assert effective > 1000
        errors[parents] = fit.log_evidence - sampled
    # Laplace in eight dimensions with ten rows to each: about half a nat, always too little.
    assert max(map(abs, errors.values())) < 1.0
    # Models with and without the variance parent are compared better than that: their errors have
    # one sign.
    differences = [errors[Parents(1, 2)] - errors[p] for p in (Parents(1, 0), Parents(1, 4))]
    assert max(map(abs, differences)) < 0.8


@pytest.mark.parametrize("noise", NOISES)
def test_evidence_prefers_the_moment_that_a_cause_acts_on(noise: NoiseFamily) -> None:
    local = scorer(heteroscedastic(0, 400), noise)

    def evidence(mean: int, variance: int) -> float:
        return local.fit(3, Parents(mean, variance)).log_evidence

    truth = evidence(0b001, 0b010)
    # Some hundred rows with a standard deviation that changes sixfold: a hundred nats.
    assert truth > evidence(0b001, 0b000) + 30
    assert truth > evidence(0b000, 0b010) + 30
    assert truth > evidence(0b010, 0b001) + 60
    assert truth > evidence(0b001, 0b100) + 30
    # What does not act costs a few nats; more than log 2, which chance could undo.
    assert truth > evidence(0b001, 0b110) + 1
    assert truth > evidence(0b101, 0b010) + 1
    assert truth > evidence(0b001, 0b011)


@pytest.mark.parametrize("noise", NOISES)
def test_a_mean_cause_is_not_taken_for_a_variance_cause(noise: NoiseFamily) -> None:
    local = scorer(homoscedastic(3, 300), noise)
    empty, mean, variance, both = (
        local.fit(2, Parents(m, v)).log_evidence for m, v in [(0, 0), (1, 0), (0, 1), (1, 1)]
    )
    assert mean > empty + 30
    assert mean > variance + 30
    # Variable 1 is left out and makes the spread grow with |x₀|: give `both` its due by adding it.
    full, too_full = (local.fit(2, Parents(3, v)).log_evidence for v in (0, 1))
    assert full > too_full
    assert full > both


@pytest.mark.parametrize("noise", NOISES)
def test_fitted_log_std_is_near_the_truth(noise: NoiseFamily) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(600, 2))
    log_std = 0.9 * np.sin(values[:, 0])
    y = np.exp(log_std) * rng.normal(size=600)
    values[:, 1] = y
    local = scorer(standardised(values), noise)
    fit = local.fit(1, Parents(0, 1))
    assert fit.converged
    error = fit.log_std - (log_std - np.log(y.std()))
    # A dozen functions from 600 rows of information 2 each: root mean square error about 0.1.
    assert np.sqrt(np.mean(error**2)) < 0.2
    centre, spread = local.scale_posterior(fit, Parents(0, 1))
    np.testing.assert_allclose(
        local.variance_features(1).functions @ centre, fit.log_std, atol=1e-8
    )
    assert (spread > 0).all()
    assert (spread <= 1 / fit.noise.base.tails.scale_information).all()


@pytest.mark.parametrize("noise", NOISES)
def test_fits_settle_whatever_the_parents(noise: NoiseFamily) -> None:
    # Needless parents of both moments can trade a residual for a scale, back and forth.
    simulated = preset("sparse-10", np.random.default_rng(20362))
    local = scorer(standardised(simulated.data.to_numpy()), noise)
    rng = np.random.default_rng(1)
    for variable in range(10):
        others = [i for i in range(10) if i != variable]
        for n_parents in (2, 3, 3, 4):
            mean, variance = (
                sum(1 << int(i) for i in rng.choice(others, n_parents, replace=False))
                for _ in range(2)
            )
            assert local.fit(variable, Parents(mean, variance)).converged


@pytest.mark.parametrize("noise", NOISES)
def test_signs_of_effect_and_causes_do_not_matter(noise: NoiseFamily) -> None:
    values = heteroscedastic(1, 150)
    expected = scorer(values, noise).fit(3, Parents(0b001, 0b010)).log_evidence
    for column in (0, 1, 3):
        flipped = values * np.where(np.arange(4) == column, -1.0, 1.0)
        found = scorer(flipped, noise).fit(3, Parents(0b001, 0b010)).log_evidence
        # Kernels and noise families are symmetric; only roundings differ.
        assert found == pytest.approx(expected, abs=1e-6)


def test_noise_families_differ_by_what_their_shapes_are_worth() -> None:
    rng = np.random.default_rng(0)
    values = standardised(
        np.stack([rng.normal(size=600), rng.standard_t(3, 600), rng.choice([-2, 2], 600)], axis=1)
        + [[0, 0, 1]] * rng.normal(size=(600, 3))
    )
    gaussian, student, flexible = (
        np.array([scorer(values, noise).fit(j, Parents(0, 0)).log_evidence for j in range(3)])
        for noise in NOISES
    )
    # Normal noise pays at most log 5 for the choice of tails, another log 7 for that of a skew and
    # log 2 for a tilt; the fits stop at log standard deviations that differ by up to 0.02, worth
    # n 0.02² = 0.24.
    assert -np.log(5) - 0.3 < student[0] - gaussian[0] < 1.0
    assert -np.log(14) - 0.3 < flexible[0] - student[0] < 0.3
    # Heavy tails are worth much to both, and a skew or a tilt of the right tails nothing.
    assert student[1] - gaussian[1] > 30
    assert -np.log(14) - 0.3 < flexible[1] - student[1] < 0.3
    # Two modes are no matter of tails. What they are worth is counted once.
    assert abs(student[2] - gaussian[2]) < np.log(5) + 0.3
    e = values[:, 2]
    worth = fit_noise(e)[0] - np.logaddexp.reduce(log_likelihoods(e, SYMMETRIC)) + np.log(5)
    assert worth > 30
    assert flexible[2] - student[2] == pytest.approx(worth, abs=1.0)


def test_only_the_parents_and_the_variable_matter() -> None:
    values = heteroscedastic(2, 150)
    other = values.copy()
    other[:, 2] = np.random.default_rng(0).normal(size=150)
    found = [scorer(v, "flexible").fit(3, Parents(1, 2)).log_evidence for v in (values, other)]
    assert found[0] == found[1]


@pytest.mark.parametrize("noise", NOISES)
def test_repeated_calls_give_the_same_bits(noise: NoiseFamily) -> None:
    values = heteroscedastic(1, 200)
    local = scorer(values, noise)
    first = local.fit(3, Parents(0b101, 0b010))
    for parents in [Parents(0, 0), Parents(1, 4), Parents(7, 7)]:
        local.fit(3, parents)
    for again in (
        local.fit(3, Parents(0b101, 0b010)),
        scorer(values, noise).fit(3, Parents(0b101, 0b010)),
    ):
        assert again.log_evidence == first.log_evidence
        np.testing.assert_array_equal(again.log_std, first.log_std)
        np.testing.assert_array_equal(again.residual, first.residual)
        assert again.noise == first.noise
    assert local.counts.to_dict() == {"computed": 5, "not_converged": 0, "failed": 0}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("which", ["mean_kernel", "variance_kernel"])
def test_a_failed_factorisation_is_minus_infinity(noise: NoiseFamily, which: str) -> None:
    improper = {which: Kernel("rbf", 1.0, linear=-5.0)}
    local = scorer(heteroscedastic(0, 100), noise, **improper)
    fit = local.fit(3, Parents(0b001, 0b010))
    assert fit.log_evidence == -np.inf
    assert not fit.converged
    fine = Parents(0, 0b010) if which == "mean_kernel" else Parents(0b001, 0)
    assert np.isfinite(local.fit(3, fine).log_evidence)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", ["deterministic", "duplicate", "two values"])
def test_degenerate_columns_have_an_evidence(noise: NoiseFamily, kind: str) -> None:
    values = heteroscedastic(0, 200)
    match kind:
        case "deterministic":
            values[:, 3] = np.tanh(values[:, 0])
        case "duplicate":
            values[:, 1] = values[:, 0]
        case "two values":
            values[:, 3] = values[:, 0] > 0
    local = scorer(standardised(values), noise)
    for parents in [Parents(0, 0), Parents(1, 0), Parents(0, 1), Parents(3, 3)]:
        fit = local.fit(3, parents)
        assert np.isfinite(fit.log_evidence)
        assert np.isfinite(fit.log_std).all()


@pytest.mark.parametrize("noise", NOISES)
def test_one_wild_cell_leaves_an_evidence(noise: NoiseFamily) -> None:
    values = heteroscedastic(0, 200)
    values[7, 3] = 1e4
    local = scorer(standardised(values), noise)
    for parents in [Parents(0, 0), Parents(1, 0), Parents(0, 1), Parents(3, 3)]:
        assert np.isfinite(local.fit(3, parents).log_evidence)


@pytest.mark.parametrize("noise", NOISES)
def test_screened_gains_have_the_sign_of_the_truth(noise: NoiseFamily) -> None:
    local = scorer(heteroscedastic(0, 400), noise)
    empty, nothing = Parents(0, 0), Parents(0b001, 0b010)
    mean_gains, _ = local.screen(3, local.fit(3, empty), empty, [0, 2], [])
    assert list(mean_gains) == [0, 2]
    assert mean_gains[0] > 20
    assert mean_gains[2] < 0
    with_mean = Parents(0b001, 0)
    _, variance_gains = local.screen(3, local.fit(3, with_mean), with_mean, [], [1, 2])
    assert variance_gains[1] > 10
    assert variance_gains[2] < 0
    # Nothing is missing any more.
    rest = local.screen(3, local.fit(3, nothing), nothing, [2], [2])
    assert rest[0][2] < 0
    assert rest[1][2] < 0
