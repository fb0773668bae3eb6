"""Small fixed-seed fits of every method, and what came of them.

As a script it writes every number to the last bit, so that two checkouts can be compared on one
machine: ``python tests/golden/fits.py before.json``, the same after a change, and
``python tests/golden/fits.py --compare before.json after.json``.
``python tests/golden/fits.py --record`` renews ``values.json``, which `test_fits` compares with.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import momentdag as md

VALUES = Path(__file__).with_name("values.json")

Values = dict[str, list[float]]

QUICK = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "thinning": 10}
MONTE_CARLO = md.effects.MonteCarlo(n_draws=20, n_rows=64)


class Golden(NamedTuple):
    """A fit that is kept.

    ``method`` is whose METHOD_VERSION it belongs to. ``tolerance`` is what another processor may
    change: rounding for local scores and exact posteriors, Monte Carlo error for sampled ones.
    """

    method: str
    tolerance: float
    compute: Callable[[], Values]


METHODS = {
    "evidence": "momentdag.engines.evidence.engine",
    "variational": "momentdag.engines.variational.engine",
    "variational-published": "momentdag.engines.variational.inner_loop",
    **{
        name: f"momentdag.baselines.{name}"
        for name in ("mc3", "dds", "icdh", "host", "varsort", "skewscore")
    },
}
ROUNDING = 1e-6
SAMPLED = 0.25  # four standard errors of a share of some 64 effective draws


def simulated(preset: str, n: int, seed: int = 4) -> pd.DataFrame:
    return md.simulate.preset(preset, np.random.default_rng(seed), n).data


@cache
def three_columns() -> pd.DataFrame:
    """x moves the mean of y, x and z its spread; the noise of y is skewed."""
    rng = np.random.default_rng(7)
    x, z = rng.normal(size=(2, 120))
    noise = (rng.gamma(3.0, size=120) - 3) / np.sqrt(3)
    y = np.sin(1.5 * x) + np.exp(0.5 * z + 0.3 * x) * noise
    return pd.DataFrame({"x": x, "y": y, "z": z})


@cache
def rounded_columns() -> pd.DataFrame:
    """Three columns of which one is whole numbers and one has heavy tails."""
    table = three_columns().copy()
    table["x"] = np.round(2 * table["x"])
    table["z"] = np.exp(1.5 * table["z"])
    return table


@cache
def small_noise() -> pd.DataFrame:
    """A mean so exact that features of the usual detail do not follow it."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, 300)
    y = np.sin(3 * x) + 1e-4 * rng.normal(size=300)
    return pd.DataFrame({"x": x, "y": y})


def fitted(data: pd.DataFrame, engine: str = "evidence", n_draws: int = 400, **options: object):
    if engine == "evidence":
        options = {"posterior": "plain", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return md.MomentDAG(
            engine=engine, n_draws=n_draws, random_state=0, engine_options=options
        ).fit(data)


@cache
def exact_fit() -> md.MomentDAG:
    return fitted(three_columns())


@cache
def chain_fit() -> md.MomentDAG:
    return fitted(simulated("sparse-5", 150), **QUICK)


@cache
def variational_fit() -> md.MomentDAG:
    return fitted(
        three_columns(), "variational", max_steps=400, warm_up_steps=100, n_restarts=2, n_hidden=8
    )


def published_fit() -> md.MomentDAG:
    """Algorithm 1 as printed, without the walk of its grid."""
    from momentdag.engines.variational.options import VariationalOptions

    options = VariationalOptions.published().to_dict()
    options.update(tuning="none", max_steps=500, n_hidden=8, batch_size=None)
    return fitted(three_columns(), "variational", **options)


def edges(posterior: md.Posterior) -> Values:
    return {
        moment: posterior.edge_probabilities(moment).to_numpy().ravel().tolist()
        for moment in ("mean", "variance")
    }


def exact_posterior(estimator: md.MomentDAG) -> Values:
    """The log probabilities of the likeliest pairs, which no draw of them changes."""
    values = np.unique(estimator.posterior_.log_posterior)[::-1]
    likely = values[values > -4.0]  # all of them are among the 400 draws
    return {"log_probability": likely.tolist()}


def sampled(estimator: md.MomentDAG) -> Values:
    return edges(estimator.posterior_)


def edge_counts(estimator: md.MomentDAG) -> Values:
    """Expected numbers of causes of each effect: few numbers for many variables."""
    found = edges(estimator.posterior_)
    d = estimator.n_features_in_
    return {moment: np.reshape(p, (d, d)).sum(axis=0).tolist() for moment, p in found.items()}


def local_scores(estimator: md.MomentDAG) -> Values:
    """Log evidences of the first variable with several parents, from the fit's own scorer."""
    scorer = estimator.scm_.scorer
    d = scorer.n_variables
    sets = [(0, 0), (2, 0), (0, 2), (2, 2), (2, 4), (6, 6)] if d > 2 else [(0, 0), (2, 0), (2, 2)]
    return {"log_evidence": [scorer.fit(0, _parents(*pair)).log_evidence for pair in sets]}


def _parents(mean: int, variance: int):
    from momentdag.engines.evidence.local.protocol import Parents

    return Parents(mean, variance)


def densities(estimator: md.MomentDAG, data: pd.DataFrame) -> Values:
    graph = estimator.best_graph_
    mean, sd = estimator.scm_.moments(data.to_numpy()[:5], graph, str(data.columns[1]))
    return {
        "score": estimator.score_samples(data)[:5].tolist(),
        "mean": mean.tolist(),
        "sd": sd.tolist(),
    }


def answers(estimator: md.MomentDAG, cause: str, effect: str) -> Values:
    """Interventions, contrasts, levers and a decomposition, in small."""
    effects = md.effects
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = effects.intervene(
            estimator, do={cause: [-0.5, 0.5]}, targets=[effect], monte_carlo=MONTE_CARLO
        ).to_frame()
        ranking = effects.levers(estimator, target=effect, monte_carlo=MONTE_CARLO).to_frame()
        parts = effects.decompose_variance(estimator, effect, monte_carlo=MONTE_CARLO).to_frame()
        total = effects.total_effect(
            estimator, cause, effect, values=(-0.5, 0.5), monte_carlo=MONTE_CARLO
        ).to_frame()
    frames = {"intervene": found, "levers": ranking, "decompose": parts, "total": total}
    return {
        name: frame.select_dtypes("number").to_numpy(dtype=float).ravel().tolist()
        for name, frame in frames.items()
    }


def screening(data: pd.DataFrame) -> Values:
    table = md.screening.heteroscedasticity(data, random_state=0).to_frame()
    return {"p_values": table.select_dtypes("number").to_numpy(dtype=float).ravel().tolist()}


def criticism(estimator: md.MomentDAG, data: pd.DataFrame) -> Values:
    found = md.screening.criticise(estimator, data, n_draws=20)
    table = found.to_frame().select_dtypes("number")
    return {"table": table.to_numpy(dtype=float).ravel().tolist()}


def baseline(name: str, **options: object) -> Values:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = md.baselines.fit(
            name, simulated("hnm-5", 150), n_draws=200, random_state=0, options=options
        )
    return edges(result.posterior)


def informed() -> Values:
    data = simulated("sparse-5", 150)
    first, second = data.columns[:2]
    knowledge = md.Knowledge(order=[(second, first)], edge_priors={(first, "x4", "mean"): 0.3})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = md.MomentDAG(
            knowledge=knowledge,
            n_draws=200,
            random_state=1,
            engine_options={"posterior": "plain", **QUICK},
        ).fit(data)
    return sampled(estimator)


GOLDENS: dict[str, Golden] = {
    "exact": Golden("evidence", ROUNDING, lambda: exact_posterior(exact_fit())),
    "exact-gaussian": Golden(
        "evidence",
        ROUNDING,
        lambda: exact_posterior(fitted(three_columns(), noise="gaussian")),
    ),
    "exact-student": Golden(
        "evidence", ROUNDING, lambda: exact_posterior(fitted(three_columns(), noise="student"))
    ),
    "exact-homoscedastic": Golden(
        "evidence",
        ROUNDING,
        lambda: exact_posterior(fitted(three_columns(), family="gp_homoscedastic")),
    ),
    "exact-linear": Golden(
        "evidence", ROUNDING, lambda: exact_posterior(fitted(three_columns(), family="linear"))
    ),
    "exact-rounded": Golden(
        "evidence", ROUNDING, lambda: exact_posterior(fitted(rounded_columns()))
    ),
    "scores": Golden("evidence", ROUNDING, lambda: local_scores(exact_fit())),
    "scores-gaussian": Golden(
        "evidence", ROUNDING, lambda: local_scores(fitted(three_columns(), noise="gaussian"))
    ),
    "scores-fine": Golden("evidence", ROUNDING, lambda: local_scores(fitted(small_noise()))),
    "densities": Golden("evidence", ROUNDING, lambda: densities(exact_fit(), three_columns())),
    "densities-all-rows": Golden(
        "evidence",
        ROUNDING,
        lambda: densities(fitted(three_columns(), max_rows=100), three_columns()),
    ),
    "answers": Golden("evidence", SAMPLED, lambda: answers(exact_fit(), "z", "y")),
    "chain": Golden("evidence", SAMPLED, lambda: sampled(chain_fit())),
    "chain-large": Golden(
        "evidence", 1.0, lambda: edge_counts(fitted(simulated("anm-20", 80), n_draws=60, **QUICK))
    ),
    "chain-knowledge": Golden("evidence", SAMPLED, informed),
    "worlds": Golden(
        "evidence", 0.05, lambda: sampled(fitted(three_columns(), posterior="worlds"))
    ),
    "worlds-orders": Golden(
        "evidence",
        SAMPLED,
        lambda: sampled(fitted(simulated("sparse-5", 150), posterior="worlds", **QUICK)),
    ),
    "chain-answers": Golden("evidence", SAMPLED, lambda: answers(chain_fit(), "x5", "x4")),
    "screening": Golden("evidence", 1e-4, lambda: screening(three_columns())),
    "criticism": Golden("evidence", 1e-4, lambda: criticism(exact_fit(), three_columns())),
    "variational": Golden("variational", SAMPLED, lambda: sampled(variational_fit())),
    "variational-lbfgs": Golden(
        "variational",
        SAMPLED,
        lambda: sampled(
            fitted(
                three_columns(),
                "variational",
                optimizer="lbfgs",
                max_steps=60,
                warm_up_steps=20,
                n_restarts=1,
                n_hidden=4,
            )
        ),
    ),
    "variational-relaxed": Golden(
        "variational",
        SAMPLED,
        lambda: sampled(
            fitted(
                three_columns(),
                "variational",
                updates="published",
                gradient="relaxed",
                max_steps=300,
                n_restarts=1,
                n_hidden=8,
                resampling=False,
            )
        ),
    ),
    "variational-published": Golden(
        "variational-published", SAMPLED, lambda: sampled(published_fit())
    ),
    "variational-answers": Golden(
        "variational", SAMPLED, lambda: answers(variational_fit(), "z", "y")
    ),
    "mc3": Golden("mc3", SAMPLED, lambda: baseline("mc3")),
    "dds": Golden("dds", SAMPLED, lambda: baseline("dds", max_steps=300)),
    "icdh": Golden("icdh", SAMPLED, lambda: baseline("icdh", n_rounds=1, max_steps=20)),
    "host": Golden("host", SAMPLED, lambda: baseline("host")),
    "varsort": Golden("varsort", ROUNDING, lambda: baseline("varsort")),
    "skewscore": Golden("skewscore", SAMPLED, lambda: baseline("skewscore", n_centres=50)),
}


def method_version(method: str) -> int:
    return importlib.import_module(METHODS[method]).METHOD_VERSION


def compute() -> dict[str, Values]:
    return {name: golden.compute() for name, golden in GOLDENS.items()}


def _compare(before: Path, after: Path) -> int:
    one, other = (json.loads(path.read_text()) for path in (before, after))
    n_other = 0
    for name in one:
        same = one[name] == other.get(name)
        n_other += not same
        print("equal    " if same else "DIFFERENT", name)  # noqa: T201
    return n_other


def _main(arguments: list[str]) -> int:
    if arguments[:1] == ["--compare"]:
        return _compare(*map(Path, arguments[1:]))
    if arguments == ["--record"]:
        recorded = {
            name: {key: [float(f"{value:.9g}") for value in own] for key, own in values.items()}
            for name, values in compute().items()
        }
        versions = {method: method_version(method) for method in METHODS}
        lines = (f"{json.dumps(name)}: {json.dumps(values)}" for name, values in recorded.items())
        body = ",\n".join(lines)
        text = f'{{"versions": {json.dumps(versions)},\n"values": {{\n{body}\n}}}}\n'
        VALUES.write_text(text)
        return 0
    found = {
        name: {key: [float(value).hex() for value in own] for key, own in values.items()}
        for name, values in compute().items()
    }
    Path(arguments[0]).write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
