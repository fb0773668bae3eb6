"""What needless causes gain: decoys, permuted copies of columns, are scored like real causes.

Under a right model the Bayes factor of a cause that does nothing is one on average. Where the noise
is of a shape that its class cannot describe (a sharp edge, tails without a mean), functions of
anything describe it a little better, in all rows alike, and many rows make a certainty of it. A
decoy does nothing by construction, so what it gains is the share of the model. The price of an edge
into a variable is the logarithm of the mean Bayes factor of decoys,

    log (1/K) Σ_k p(y | parents, decoy k) / p(y | parents),

if that is positive, or more where decoys scatter widely: an edge counts for what it gains beyond.
Decoys stand beside the best parents among all others, so that the price is that of the variable and
no direction of an edge is favoured. A parent that is worth little may itself be there for the shape
of the noise: its price is the larger one of those with and without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Parents, ScoreCounts, Scorer
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.exact import MAX_VARIABLES
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import members
from momentdag.parallel import is_serial, run

__all__ = ["Prices", "add_decoys", "edge_prices"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
_Beside: TypeAlias = dict[int | None, Parents]  # without which parent, and what is left

_SEED = 1908
_N_DECOYS = 12
_N_DECOYS_OF_FEW = 24  # up to `MAX_VARIABLES` variables, whose scores are few
_WIDTHS, _WIDTHS_OF_FEW = 4.0, 5.0
"""Standard deviations of the gains of decoys; those of a wrong model have a long upper tail."""
_NO_MISFIT, _NO_MISFIT_OF_FEW = 0.0, -1.2
"""Log mean Bayes factor below which decoys tell of no misfit. It is zero on average if the model is
right; beside many parents what decoys lose differs widely, and one of twelve often does well. Few
variables are priced sooner and further: an edge between two unrelated columns is what a user of a
small table meets, and the price costs directions nothing."""
_WORTH_MUCH = 30.0
"""Nats: a parent worth more is there for its own sake."""


class Prices(NamedTuple):
    """Nats that each edge has to gain beyond its prior odds, (d, d): cause by effect."""

    mean: FloatArray
    variance: FloatArray


def add_decoys(problem: Problem) -> Problem:
    """Return the problem with permuted copies of some columns behind its own.

    The rows of a problem stand in an order that depends on their contents alone, and so do decoys.
    """
    d = problem.n_variables - problem.prior.n_regimes
    values = problem.values
    rng = np.random.default_rng(_SEED)
    n = _n_decoys(d)
    sources = np.linspace(0, d, n, endpoint=False).astype(np.intp) if d > n else np.arange(n) % d
    decoys = [values[rng.permutation(len(values)), source] for source in sources]
    columns = np.concatenate([np.arange(values.shape[1]), sources])
    units, set_cells = problem.units, problem.set_cells
    if set_cells is not None:
        never = np.zeros((len(values), n), dtype=bool)
        set_cells = np.hstack([set_cells, never])
    return replace(
        problem,
        values=np.column_stack([values, *decoys]),
        units=None if units is None else units.reordered(columns),
        set_cells=set_cells,
        worlds=None,
    )


def _n_decoys(n_variables: int) -> int:
    return _N_DECOYS_OF_FEW if n_variables <= MAX_VARIABLES else _N_DECOYS


def edge_prices(problem: Problem, search: ParentSearch, n_jobs: int) -> Prices:
    """Return the price of every edge between variables.

    Parameters
    ----------
    problem : Problem
    search : ParentSearch
        That of the problem, whose scores serve to find the parents beside which decoys stand.
    n_jobs : int
    """
    d = search.prior.n_variables
    prices = Prices(*np.zeros((2, problem.n_variables, problem.n_variables)))
    known = {j: _beside(search, j) for j in range(d) if search.candidates[j]}
    # A block shares bases, and its variables may go to another process.
    n_blocks = 1 if is_serial(n_jobs) else TUNING.n_blocks
    blocks = [{j: known[j] for j in list(known)[k::n_blocks]} for k in range(n_blocks)]
    for priced, counts in run(_price_in_worker, [(problem, block) for block in blocks], n_jobs):
        problem.counts.include(counts)
        for j, beside in priced.items():
            for i in range(d):
                # Beside all parents, and without this one if it is worth little.
                found = np.max([beside[None], beside.get(i, (0.0, 0.0))], axis=0)
                prices.mean[i, j], prices.variance[i, j] = found * (i != j)
    return prices


def _beside(search: ParentSearch, variable: int) -> _Beside:
    """Return the parents beside which decoys stand: the best, and the best without a weak one."""
    best = search.best(variable, search.candidates[variable]).parents
    beside: _Beside = {None: best}
    whole = search.log_evidence(variable, best)
    for i in members(best.union & (1 << search.prior.n_variables) - 1):
        less = Parents(best.mean & ~(1 << i), best.variance & ~(1 << i))
        if whole - search.log_evidence(variable, less) < _WORTH_MUCH:
            beside[i] = less
    return beside


def _price_in_worker(
    problem: Problem, block: dict[int, _Beside]
) -> tuple[dict[int, dict[int | None, tuple[float, float]]], ScoreCounts]:
    with problem.in_worker() as problem:
        scorer = add_decoys(problem).scorer(problem.hyperparameters)
        prior = problem.prior.modular(*problem.rates)
        first = problem.n_variables
        decoys = range(first, scorer.n_variables)
        priced = {}
        for j, beside in block.items():
            moments = (bool(prior.allowed_mean[j]), bool(prior.allowed_variance[j]))
            priced[j] = {
                key: _price(scorer, j, parents, decoys, moments) for key, parents in beside.items()
            }
    return priced, problem.counts


def _price(
    scorer: Scorer, variable: int, parents: Parents, decoys: range, moments: tuple[bool, bool]
) -> tuple[float, float]:
    """Return the prices of a mean and of a variance edge; an edge of both moments costs both."""
    base = scorer.fit(variable, parents).log_evidence
    is_few = len(decoys) == _N_DECOYS_OF_FEW

    def price(mean: bool, variance: bool) -> float:
        if not np.isfinite(base) or (mean and not moments[0]) or (variance and not moments[1]):
            return 0.0
        gains = [
            scorer.fit(
                variable, Parents(parents.mean | mean << k, parents.variance | variance << k)
            ).log_evidence
            - base
            for k in decoys
        ]
        mean_factor = float(np.logaddexp.reduce(gains)) - float(np.log(len(gains)))
        if mean_factor < (_NO_MISFIT_OF_FEW if is_few else _NO_MISFIT):
            return 0.0
        # Among few decoys the largest gains, which make the mean, are missing: extrapolate.
        widths = _WIDTHS_OF_FEW if is_few else _WIDTHS
        return max(mean_factor, float(np.mean(gains) + widths * np.std(gains)), 0.0)

    half = price(True, True) / 2
    return max(price(True, False), half), max(price(False, True), half)
