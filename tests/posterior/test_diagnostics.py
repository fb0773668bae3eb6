import dataclasses

import numpy as np
import pytest

from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.monte_carlo import standard_error

CHAINS = np.repeat(np.arange(4), 500)


def one_edge(indicator, chains=CHAINS, **options):
    """Return a posterior in which ``indicator`` says when a -> b is in the mean graph."""
    mean = np.zeros((len(indicator), 2, 2), dtype=bool)
    mean[:, 0, 1] = indicator
    return Posterior("ab", mean, np.zeros_like(mean), Provenance("test"), chains=chains, **options)


def many_edges(rng, probability, n_draws=2000, chains=CHAINS, d=10):
    mean, variance = (np.triu(rng.random((n_draws, d, d)) < probability, 1) for _ in range(2))
    names = [f"x{i}" for i in range(d)]
    return Posterior(names, mean, variance, Provenance("test"), chains=chains)


@pytest.mark.parametrize("chains", [CHAINS, None, np.zeros(2000, dtype=int)])
def test_independent_draws_are_fine(chains):
    rng = np.random.default_rng(0)
    diagnostics = many_edges(rng, rng.random((10, 10)), chains=chains).diagnostics()
    assert not diagnostics.is_poor
    assert diagnostics.complaints == ()
    assert diagnostics.worst_r_hat < 1.02
    assert diagnostics.smallest_ess > 1000
    assert diagnostics.log_posterior_r_hat is None
    assert diagnostics.n_chains == (1 if chains is None else len(set(chains.tolist())))
    assert "no sign of poor mixing" in diagnostics.message()


def test_few_independent_draws_disagree_by_chance_only():
    rng = np.random.default_rng(1)
    posterior = many_edges(rng, 0.5, n_draws=400, chains=np.repeat(np.arange(4), 100))
    diagnostics = posterior.diagnostics()
    assert diagnostics.chain_disagreement > 0.1
    assert not any("two chains" in complaint for complaint in diagnostics.complaints)


def test_chains_in_different_places_are_found():
    rng = np.random.default_rng(2)
    indicator = rng.random(2000) < np.repeat([0.9, 0.9, 0.9, 0.2], 500)
    diagnostics = one_edge(indicator).diagnostics()
    assert diagnostics.is_poor
    assert diagnostics.worst_r_hat > 1.05
    # 0.7 up to three standard errors of the difference of two chains of 500 draws.
    assert diagnostics.chain_disagreement == pytest.approx(0.7, abs=0.07)
    message = diagnostics.message()
    for part in ("a -> b (mean)", "R-hat", "two chains differ", "n_starts", "thinning", "n_draws"):
        assert part in message


def test_a_surface_names_options_in_its_own_words():
    message = one_edge(CHAINS == 2).diagnostics().message(lambda options: "/".join(options))
    assert "more draws (n_draws) or more steps between them (engine_options);" in message
    assert "=" not in message


def test_constant_chains_that_differ():
    diagnostics = one_edge(CHAINS == 2).diagnostics()
    assert diagnostics.worst_r_hat == np.inf
    assert diagnostics.chain_disagreement == 1
    assert diagnostics.smallest_ess < 10
    assert diagnostics.is_poor


def test_constant_chains_that_agree():
    diagnostics = one_edge(np.ones(2000)).diagnostics()
    assert (diagnostics.worst_r_hat, diagnostics.smallest_ess) == (1, 2000)
    assert not diagnostics.is_poor


def test_slow_chains_are_found():
    rng = np.random.default_rng(3)
    indicator = np.cumsum(rng.random(2000) < 0.01) % 2 == 1
    diagnostics = one_edge(indicator, chains=None).diagnostics()
    assert diagnostics.smallest_ess < 100
    assert any("effective sample size" in complaint for complaint in diagnostics.complaints)


def test_edges_that_are_all_but_certain_do_not_count():
    indicator = np.zeros(2000, dtype=bool)
    indicator[:20] = True  # visited once, by one chain: 1 % of the draws
    diagnostics = one_edge(indicator).diagnostics()
    assert not diagnostics.is_poor
    row = diagnostics.edges.loc[0]
    assert row["r_hat"] > 1
    assert row["ess"] < 1000
    assert not row["uncertain"]


def test_a_handful_of_draws_is_poor():
    diagnostics = one_edge([1, 1, 1], chains=None).diagnostics()
    assert np.isnan(diagnostics.worst_r_hat)
    assert "only 3 draws" in diagnostics.message()


def test_the_trace_of_the_log_posterior():
    rng = np.random.default_rng(4)
    level = rng.normal(size=2000)
    indicator = rng.random(2000) < 0.5
    fine = one_edge(indicator, log_posterior=level).diagnostics()
    assert fine.log_posterior_r_hat < 1.02
    assert fine.log_posterior_ess > 1000
    assert not fine.is_poor
    stuck = one_edge(indicator, log_posterior=level - 20 * (CHAINS == 1)).diagnostics()
    assert stuck.log_posterior_r_hat > 2
    assert "log posterior has R-hat" in stuck.message()
    endless = np.where(np.arange(2000) == 3, -np.inf, level)
    assert one_edge(indicator, log_posterior=endless).diagnostics().log_posterior_r_hat is None


def test_the_edge_table():
    rng = np.random.default_rng(5)
    posterior = many_edges(rng, 0.3, d=3)
    table = posterior.diagnostics().edges
    assert list(table.columns) == [
        "cause",
        "effect",
        "moment",
        "probability",
        "standard_error",
        "r_hat",
        "ess",
        "disagreement",
        "beyond_chance",
        "uncertain",
    ]
    assert len(table) == 6
    assert table["ess"].is_monotonic_increasing
    wanted = (table["cause"] == "x0") & (table["effect"] == "x2") & (table["moment"] == "variance")
    row = table[wanted].iloc[0]
    series = posterior.variance_graphs[:, 0, 2]
    assert row["probability"] == series.mean()
    assert row["standard_error"] == pytest.approx(standard_error(series, CHAINS))
    means = [series[chain == CHAINS].mean() for chain in range(4)]
    assert row["disagreement"] == pytest.approx(max(means) - min(means))


def test_is_a_frozen_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        one_edge(np.ones(10), chains=None).diagnostics().worst_r_hat = 1.0


def test_complaints_count_the_other_edges():
    mean = np.zeros((2000, 3, 3), dtype=bool)
    mean[CHAINS == 0, 0, 1] = mean[CHAINS == 0, 0, 2] = mean[CHAINS == 0, 1, 2] = True
    posterior = Posterior("abc", mean, mean, Provenance("test"), chains=CHAINS)
    assert "as have 5 other edges" in posterior.diagnostics().message()


def test_chains_that_contradict_each_other_are_not_to_be_used():
    mean = np.zeros((1000, 3, 3), dtype=bool)
    mean[:500, 0, 1] = True  # one chain always says a -> b, the other never
    none = np.zeros_like(mean)
    chains = np.repeat([0, 1], 500)
    posterior = Posterior(["a", "b", "c"], mean, none, Provenance("by hand"), chains=chains)
    diagnostics = posterior.diagnostics()
    assert diagnostics.grade == "do not use"
    assert "Do not use edges in which chains contradict" in diagnostics.message()
    # Nothing speaks against what is said about the causes of c.
    assert diagnostics.grade_of(["b"]) == "do not use"
    assert diagnostics.grade_of(["c"]) == "fine"


def test_few_effective_draws_are_weak_not_useless():
    rng = np.random.default_rng(0)
    mean = np.zeros((600, 2, 2), dtype=bool)
    # Blocks of 20 equal draws: 30 independent ones, the same in both chains but for chance.
    mean[:, 0, 1] = np.repeat(rng.random(30) < 0.5, 20)
    posterior = Posterior(["a", "b"], mean, np.zeros_like(mean), Provenance("by hand"))
    assert posterior.diagnostics().grade == "weak"
