"""Convergence diagnostics: R-hat, effective sample size and agreement between chains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.errors import Spelling, as_python
from momentdag.posterior.doubt import ModelDoubt
from momentdag.posterior.doubt_text import describe_searches
from momentdag.posterior.monte_carlo import Mixing, chain_rows, mixing

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = [
    "CHANCE",
    "CONTRADICTION",
    "GRADES",
    "MAX_DISAGREEMENT",
    "MAX_R_HAT",
    "MIN_ESS",
    "UNCERTAIN",
    "Diagnostics",
    "Grade",
    "diagnose",
]

Grade: TypeAlias = Literal["fine", "weak", "do not use"]
"""How far something can be trusted."""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""Best first."""

UNCERTAIN = (0.05, 0.95)
"""Only edges with a probability in this range count: whether it is 0.01 or 0.02 does not matter."""
MAX_R_HAT = 1.05
MIN_ESS = 100.0
"""Gives a standard error of 0.05 for an edge of probability one half."""
MAX_DISAGREEMENT = 0.1
CONTRADICTION = 0.3
"""Chains that differ by more than this, and beyond chance, give different answers: one finds an
edge likely that another does not."""
CHANCE = 5.0
"""Chains disagree only if the difference also exceeds this many of its standard errors: the largest
of many differences between short chains is above 0.1 by chance alone."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics(Printable):
    """Diagnostics of the draws.

    Parameters
    ----------
    n_draws, n_chains : int
    worst_r_hat : float
        Largest split R-hat among edges of uncertain probability; NaN if no chain has four draws,
        1 if no edge is uncertain.
    smallest_ess : float
        Smallest effective sample size among these edges; ``n_draws`` if there is none.
    chain_disagreement : float
        Largest difference between two chains in the probability of one of these edges.
    log_posterior_r_hat, log_posterior_ess : float or None
        The same for the trace of the log posterior; None if there is no (finite) trace.
    edges : DataFrame
        One row for each edge drawn at least once: cause, effect, moment, probability,
        standard_error, r_hat, ess, disagreement, beyond_chance, and uncertain; smallest ESS first.
    complaints : tuple of str
        One clause for each problem.
    n_worlds : int or None
        Worlds of reweighted rows that the draws come from; None if they come from chains.
    doubt : ModelDoubt or None
        What the model alone says, and how the searches in worlds went.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.posterior import Posterior, Provenance
    >>> mean = np.zeros((1000, 2, 2), dtype=bool)
    >>> mean[:500, 0, 1] = True  # the first chain always says a -> b, the second never
    >>> posterior = Posterior(
    ...     ["a", "b"], mean, mean, Provenance("by hand"), chains=np.repeat([0, 1], 500)
    ... )
    >>> diagnostics = posterior.diagnostics()
    >>> diagnostics.is_poor, diagnostics.worst_r_hat, diagnostics.chain_disagreement
    (True, inf, 1.0)
    >>> diagnostics
    Diagnostics(do not use: 1000 draws in 2 chains; R-hat at most inf, effective sample size ...)
    """

    n_draws: int
    n_chains: int
    worst_r_hat: float
    smallest_ess: float
    chain_disagreement: float
    log_posterior_r_hat: float | None
    log_posterior_ess: float | None
    edges: pd.DataFrame
    complaints: tuple[str, ...]
    n_worlds: int | None = None
    doubt: ModelDoubt | None = None

    @property
    def least_ess(self) -> float:
        """Effective sample size below which an edge is weak: few draws of worlds were wanted so."""
        return MIN_ESS if self.n_worlds is None else _least_ess(self.n_draws)

    @property
    def grade(self) -> Grade:
        """Whether to use the draws: not if chains contradict each other, weak if poor otherwise."""
        grade = self.grade_of(None)
        return "weak" if grade == "fine" and self.is_poor else grade

    def grade_of(self, effects: Iterable[str] | None) -> Grade:
        """Return the grade of the edges into some variables, or into all.

        Chains contradict each other if R-hat is infinite or two of them differ by more than
        `CONTRADICTION`, beyond chance, in the probability of an edge.
        """
        edges = self.edges[self.edges["uncertain"]]
        if effects is not None:
            edges = edges[edges["effect"].isin(set(effects))]
        apart = edges["disagreement"] > CONTRADICTION
        if (np.isinf(edges["r_hat"]) | (apart & edges["beyond_chance"])).any():
            return "do not use"
        apart = (edges["disagreement"] > MAX_DISAGREEMENT) & edges["beyond_chance"]
        poor = (edges["r_hat"] > MAX_R_HAT) | (edges["ess"] < self.least_ess) | apart
        return "weak" if poor.any() else "fine"

    @property
    def is_poor(self) -> bool:
        """Whether anything lies beyond `MAX_R_HAT`, `MIN_ESS` or `MAX_DISAGREEMENT`."""
        return bool(self.complaints)

    def message(self, spell: Spelling = as_python) -> str:
        """Return the problems and which options to change, or that there are none, as text.

        Parameters
        ----------
        spell : Spelling
            How options are written where the message is shown: in Python or on the command line.
        """
        if self.n_worlds is not None:
            return self._message_of_worlds(spell)
        if not self.is_poor:
            return (
                f"{self.n_draws} draws in {self.n_chains} chain{'s' * (self.n_chains > 1)} show no "
                "sign of poor mixing: "
                f"R-hat at most {self.worst_r_hat:.3f}, effective sample size at least "
                f"{self.smallest_ess:.0f}."
            )
        warning = " Do not use edges in which chains contradict each other."
        return (
            f"The draws may not describe the posterior well: {'; '.join(self.complaints)}. Ask for "
            f"more draws ({spell({'n_draws': ...})}) or more steps between them "
            f"({spell({'engine_options': {'thinning': ...}})}); if chains disagree, also for more "
            f"starts and chains ({spell({'engine_options': {'n_starts': ..., 'n_chains': ...}})})."
            f"{warning if self.grade == 'do not use' else ''}"
        )

    def _message_of_worlds(self, spell: Spelling) -> str:
        searched = ""
        if self.doubt is not None:
            searched = describe_searches(self.doubt, spell({"engine_options": {"n_starts": ...}}))
        if not self.is_poor:
            message = (
                f"{self.n_draws} draws from {self.n_worlds} worlds of reweighted rows: the "
                "probability of an edge has a standard error of at most "
                f"{self.edges['standard_error'].max() if len(self.edges) else 0.0:.3f}."
            )
        else:
            more = f"{spell({'n_draws': ...})}, {spell({'engine_options': {'n_worlds': ...}})}"
            message = (
                f"The draws say little about some edges: {'; '.join(self.complaints)}. Ask for "
                f"more draws and worlds ({more})."
            )
        return f"{message} {searched}".rstrip()

    def _headline(self) -> str:
        if self.n_worlds is None:
            source = (
                f"in {text.count(self.n_chains, 'chain')}; R-hat at most "
                f"{text.number(self.worst_r_hat)}, effective"
            )
        else:
            source = f"from {text.count(self.n_worlds, 'world')}; effective"
        return (
            f"{self.grade}: {text.count(self.n_draws, 'draw')} {source} sample size at least "
            f"{self.smallest_ess:.0f}"
        )

    def _write(self, to: Writer) -> str:
        # Worlds are independent of each other: nothing to compare between chains.
        hidden = ["beyond_chance", "uncertain"]
        hidden += ["r_hat", "disagreement"] if self.n_worlds is not None else []
        table = to.table(self.edges.drop(columns=hidden), full="edges")
        return to.block(f"The draws: {self.grade}", [to.sentence(self.message()), table])


def diagnose(posterior: Posterior) -> Diagnostics:
    """Return the diagnostics of a posterior; see `Diagnostics`."""
    edges = _edges(posterior)
    counted = edges[edges["uncertain"]]
    trace = posterior.log_posterior
    r_hat = ess = None
    n_worlds = posterior.provenance.options.get("n_worlds")
    least_ess = MIN_ESS if n_worlds is None else _least_ess(posterior.n_draws)
    # Log posteriors of different worlds are not comparable.
    if n_worlds is None and trace is not None and np.isfinite(trace).all():
        mixed = mixing(trace[:, None], posterior.chains)
        r_hat, ess = float(mixed.r_hat[0]), float(mixed.ess[0])
    any_chain = bool(chain_rows(posterior.n_draws, posterior.chains))
    certain = 1.0 if any_chain else float("nan")
    return Diagnostics(
        n_draws=posterior.n_draws,
        n_chains=1 if posterior.chains is None else len(np.unique(posterior.chains)),
        worst_r_hat=float(counted["r_hat"].max()) if len(counted) else certain,
        smallest_ess=float(counted["ess"].min()) if len(counted) else float(posterior.n_draws),
        chain_disagreement=float(counted["disagreement"].max()) if len(counted) else 0.0,
        log_posterior_r_hat=r_hat,
        log_posterior_ess=ess,
        edges=edges,
        complaints=tuple(_complaints(posterior.n_draws, counted, r_hat, least_ess)),
        n_worlds=n_worlds,
        doubt=posterior.doubt,
    )


def _edges(posterior: Posterior) -> pd.DataFrame:
    parts = []
    for moment, drawn in (
        ("mean", posterior.mean_graphs),
        ("variance", posterior.variance_graphs),
    ):
        causes, effects = np.nonzero(drawn.any(axis=0))
        series = drawn[:, causes, effects]
        probability = series.mean(axis=0)
        mixed = _mixing(posterior, series)
        smoothed = (series.sum(axis=0) + 0.5) / (len(series) + 1)
        variance = smoothed * (1 - smoothed)
        rows = chain_rows(posterior.n_draws, posterior.chains)
        disagreement, error = _disagreement(series, rows, variance * mixed.within_time)
        parts.append(
            pd.DataFrame(
                {
                    "cause": [posterior.names[i] for i in causes],
                    "effect": [posterior.names[j] for j in effects],
                    "moment": moment,
                    "probability": probability,
                    "standard_error": np.sqrt(variance / mixed.ess),
                    "r_hat": mixed.r_hat,
                    "ess": mixed.ess,
                    "disagreement": disagreement,
                    "beyond_chance": disagreement > CHANCE * error,
                    "uncertain": (UNCERTAIN[0] < probability) & (probability < UNCERTAIN[1]),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values("ess", kind="stable", ignore_index=True)


def _mixing(posterior: Posterior, series: npt.NDArray[np.bool_]) -> Mixing:
    """Return how well indicators (n_draws, m) are mixed: between worlds, or within chains."""
    n_worlds = posterior.provenance.options.get("n_worlds")
    if n_worlds is None:
        return mixing(series, posterior.chains)
    # Worlds are independent and have equal shares of the draws, one after the other.
    means = np.stack([part.mean(axis=0) for part in np.array_split(series, n_worlds)])
    n_draws, p = len(series), series.mean(axis=0)
    error = means.var(axis=0) / n_worlds if n_worlds > 1 else p * (1 - p) / n_draws
    independent = np.where(error > 0, p * (1 - p) / np.maximum(error, 1e-300), n_draws)
    ess = np.minimum(independent, n_draws)
    return Mixing(np.ones(len(p)), ess, np.ones(len(p)))


def _disagreement(
    series: npt.NDArray[np.bool_], rows: list[npt.NDArray[np.intp]], variance: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the largest difference between two chains' means and its standard error."""
    if len(rows) < 2:
        return np.zeros(series.shape[1]), np.zeros(series.shape[1])
    means = np.stack([series[row].mean(axis=0) for row in rows])
    lengths = np.array([len(row) for row in rows])
    error = np.sqrt(
        variance * (1 / lengths[means.argmax(axis=0)] + 1 / lengths[means.argmin(axis=0)])
    )
    return means.max(axis=0) - means.min(axis=0), error


def _least_ess(n_draws: int) -> float:
    # Rounding must not make a sample of independent draws look smaller than it is.
    return min(MIN_ESS, 0.99 * n_draws)


def _complaints(
    n_draws: int, counted: pd.DataFrame, log_posterior_r_hat: float | None, least_ess: float
) -> Any:
    if len(counted) == 0 and n_draws < least_ess:
        yield f"there are only {n_draws} draws (fewer than {MIN_ESS:.0f})"
    bad = counted[counted["r_hat"] > MAX_R_HAT]
    if len(bad):
        worst = bad.loc[bad["r_hat"].idxmax()]
        yield f"{_edge(worst)} has R-hat {worst['r_hat']:.2f} (above {MAX_R_HAT}{_others(bad)})"
    bad = counted[counted["ess"] < least_ess]
    if len(bad):
        worst = bad.iloc[0]
        yield (
            f"{_edge(worst)} has an effective sample size of {worst['ess']:.0f} (below "
            f"{least_ess:.0f}{_others(bad)})"
        )
    bad = counted[(counted["disagreement"] > MAX_DISAGREEMENT) & counted["beyond_chance"]]
    if len(bad):
        worst = bad.loc[bad["disagreement"].idxmax()]
        yield (
            f"two chains differ by {worst['disagreement']:.2f} in the probability of "
            f"{_edge(worst)} (more than {MAX_DISAGREEMENT}{_others(bad)})"
        )
    if log_posterior_r_hat is not None and log_posterior_r_hat > MAX_R_HAT:
        yield f"the log posterior has R-hat {log_posterior_r_hat:.2f} (above {MAX_R_HAT})"


def _edge(row: Any) -> str:
    return f"{row['cause']} -> {row['effect']} ({row['moment']})"


def _others(bad: pd.DataFrame) -> str:
    n_others = len(bad) - 1
    if n_others == 0:
        return ""
    return f", as {'has one other edge' if n_others == 1 else f'have {n_others} other edges'}"
