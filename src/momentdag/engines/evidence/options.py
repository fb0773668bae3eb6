"""The options of the evidence engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from momentdag.engines.evidence.local.location_scale import NoiseFamily
from momentdag.engines.options import EngineOptions
from momentdag.errors import OptionError

__all__ = ["EvidenceOptions", "Family"]

Family: TypeAlias = Literal["gp", "gp_homoscedastic", "linear"]


@dataclass(frozen=True)
class EvidenceOptions(EngineOptions):
    """Options of the evidence engine; every one of them has a working default.

    Parameters
    ----------
    family : {"gp", "gp_homoscedastic", "linear"}
        Free functions for mean and variance; free mean functions with constant variance; linear
        means with constant variance and closed-form evidence.
    noise : {"flexible", "gaussian", "student"}
        Shape of the noise: a smooth density learned for each variable, the normal, or Student's t
        with degrees of freedom learned for each variable. Ignored by the linear family.
    posterior : {"worlds", "plain"}
        The average posterior over worlds of reweighted rows, which is right about as often as it
        says also where the model is wrong; or the posterior of the rows as they are, which is right
        where the model is. The linear family has the plain one only.
    tau : float
        Standard deviation of a row's weight in a world, in the middle one: how far the model is
        doubted. 1 is the Bayesian bootstrap; with 2 every row stands for a cluster of four.
    n_worlds : int or None
        Worlds; None takes 150, and 400 where every pair is enumerated.
    n_inducing : int or None
        Inducing rows of the kernels; None takes one for every 20 rows, from 40 to 80, and 160 where
        the evidence for them is overwhelming.
    n_starts : int or None
        Starts of the order search; None takes two, and four for more than 14 variables.
    n_kicks : int
        Perturbations of each start's optimum that are climbed again.
    n_chains : int
        Markov chains of the plain posterior; the draws are shared out among them.
    thinning : int or None
        Steps of a chain between two draws; None takes six times the number of variables, at
        least 20.
    method : {"auto", "exact", "chain"}
        Enumerate every graph pair (up to four variables) or sample; "auto" enumerates when it can.
    max_rows : int
        Graphs are learned from at most this many rows, a seeded random subset of larger tables;
        functions from all rows, in any case. Time grows with these rows, while the posterior over
        graphs is mostly settled: more are for effects that few rows cannot show.
    return_partial : bool
        On KeyboardInterrupt return the best result so far, flagged, instead of raising.

    Raises
    ------
    OptionError
        If a value is outside its choices or range.

    Examples
    --------
    >>> EvidenceOptions(noise="gaussian").family
    'gp'
    """

    engine: ClassVar[str] = "evidence"

    family: Family = "gp"
    noise: NoiseFamily = "flexible"
    posterior: Literal["worlds", "plain"] = "worlds"
    tau: float = 2.0
    n_worlds: int | None = None
    n_inducing: int | None = None
    n_starts: int | None = None
    n_kicks: int = 1
    n_chains: int = 4
    thinning: int | None = None
    method: Literal["auto", "exact", "chain"] = "auto"
    max_rows: int = 5_000
    return_partial: bool = False

    def __post_init__(self) -> None:
        choices = {
            "family": get_args(Family),
            "noise": get_args(NoiseFamily),
            "posterior": ("worlds", "plain"),
            "method": ("auto", "exact", "chain"),
            "return_partial": (False, True),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"Expected {name} among {list(allowed)}; got {getattr(self, name)!r}."
                )
        if type(self.tau) not in (int, float) or not 0 <= self.tau <= 10:
            raise OptionError(f"Expected tau from 0 to 10; got {self.tau!r}.")
        smallest = {
            "n_worlds": 1,
            "n_inducing": 5,
            "n_starts": 1,
            "n_kicks": 0,
            "n_chains": 1,
            "thinning": 1,
            "max_rows": 100,
        }
        for name, low in smallest.items():
            value = getattr(self, name)
            if name in ("n_worlds", "n_inducing", "n_starts", "thinning") and value is None:
                continue
            if type(value) is not int or value < low:
                raise OptionError(f"Expected {name} to be an integer >= {low}; got {value!r}.")
