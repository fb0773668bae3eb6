"""The options of the variational engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from momentdag.engines.options import EngineOptions
from momentdag.errors import OptionError

__all__ = ["Gradient", "Optimizer", "OrderPrior", "Restarts", "Updates", "VariationalOptions"]

Updates: TypeAlias = Literal["published", "likelihood", "joint"]
Optimizer: TypeAlias = Literal["adam", "lbfgs"]
Gradient: TypeAlias = Literal["score", "relaxed"]
OrderPrior: TypeAlias = Literal["uniform", "none"]
Restarts: TypeAlias = Literal["mixed", "best"]

_SMALLEST = {
    "n_hidden": 1,
    "batch_size": 1,
    "n_restarts": 1,
    "n_graphs": 1,
    "mean_steps": 1,
    "variance_steps": 1,
    "warm_up_steps": 0,
    "max_steps": 1,
    "n_cuts": 0,
}
_POSITIVE = ("learning_rate", "graph_rate", "edge_temperature", "order_temperature")
_NOT_NEGATIVE = ("kl_weight", "mean_l2", "variance_l2", "tolerance", "order_margin")
_MAY_BE_NONE = ("batch_size", "order_margin")


@dataclass(frozen=True)
class VariationalOptions(EngineOptions):
    """Options of the variational engine; every one of them has a working default.

    Parameters
    ----------
    updates : {"likelihood", "published", "joint"}
        What moves the mean networks, the mean edges and the order: the likelihood; the squared
        error, as algorithm 1 has it; or one likelihood step for everything at once.
    optimizer : {"adam", "lbfgs"}
        L-BFGS moves the networks, on rows (2 000 at least, or all) and graph draws that stay the
        same throughout a phase; edges and order are moved by Adam always.
    gradient : {"score", "relaxed"}
        How edge logits and order scores learn: by the score function, the drawn pairs of a step
        compared with each other; or, as published, through relaxed draws (Gumbel-softmax edges,
        SoftSort order, straight-through).
    n_hidden : int
        Hidden units of each network.
    batch_size : int or None
        Rows of a step; None, or more than there are, takes all.
    shifting : bool
        Whether each network's constant depends on which parents are there; the paper's does not.
    n_restarts : int
        Random starts, run together.
    restarts : {"mixed", "best"}
        What becomes of them: draws come from all, each with the share that its final objective
        gives it, or from the best alone.
    n_graphs : int
        Graph pairs drawn for a step.
    mean_steps, variance_steps : int
        Steps of each phase before the other takes its turn; joint updates count both together.
    warm_up_steps : int
        First steps, in which only the networks move.
    max_steps : int
        Steps after which the fit ends, converged or not (warm-up included).
    tolerance : float
        Improvement of the objective, in nats per row between two reports, that counts as one.
    n_cuts : int
        How often learning rates are cut when nothing improves, before that means convergence.
    learning_rate : float
        Step of the networks.
    graph_rate : float
        Step of edge logits and order scores.
    edge_temperature, order_temperature : float
        Smoothness of the relaxed edges and of the relaxed order.
    edge_probability : float
        Prior probability of each edge, where knowledge states no other. Resampling takes it for the
        mean of an unknown rate.
    kl_weight : float
        λ: nats of divergence from the prior count this many nats of likelihood.
    order_prior : {"uniform", "none"}
        Whether the divergence of the order from the uniform law counts; the paper leaves it out.
    mean_l2, variance_l2 : float
        Weights of ‖θ‖² of the mean and the variance networks, per row.
    resampling : bool
        Whether draws are resampled by the evidence of each variable's parents, and mechanisms have
        last layers refitted to them: up to 2 000 rows and 20 variables, with a uniform order prior
        and no soft orderings.
    order_margin : float or None
        c in ψ_i + c <= ψ_j for soft orderings; None takes the stated confidence's log odds, so
        that the ordering holds with that probability. The paper has 1.5.
    return_partial : bool
        On KeyboardInterrupt return the best result so far, flagged, instead of raising.

    Raises
    ------
    OptionError
        If a value is outside its choices or range.

    Examples
    --------
    >>> VariationalOptions(updates="joint").optimizer
    'adam'
    >>> VariationalOptions.published().order_margin
    1.5
    """

    engine: ClassVar[str] = "variational"

    updates: Updates = "likelihood"
    optimizer: Optimizer = "adam"
    gradient: Gradient = "score"
    n_hidden: int = 8
    batch_size: int | None = 64
    shifting: bool = True
    n_restarts: int = 4
    restarts: Restarts = "mixed"
    n_graphs: int = 8
    mean_steps: int = 10
    variance_steps: int = 10
    warm_up_steps: int = 2000
    max_steps: int = 30_000
    tolerance: float = 1e-3
    n_cuts: int = 2
    learning_rate: float = 5e-3
    graph_rate: float = 2e-2
    edge_temperature: float = 1.0
    order_temperature: float = 1.0
    edge_probability: float = 0.1
    kl_weight: float = 10.0
    order_prior: OrderPrior = "uniform"
    mean_l2: float = 1e-4
    variance_l2: float = 1e-4
    resampling: bool = True
    order_margin: float | None = None
    return_partial: bool = False

    def __post_init__(self) -> None:
        choices = {
            "updates": get_args(Updates),
            "optimizer": get_args(Optimizer),
            "gradient": get_args(Gradient),
            "order_prior": get_args(OrderPrior),
            "restarts": get_args(Restarts),
            "shifting": (False, True),
            "resampling": (False, True),
            "return_partial": (False, True),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"Expected {name} among {list(allowed)}; got {getattr(self, name)!r}."
                )
        for name, low in _SMALLEST.items():
            value = getattr(self, name)
            if value is None and name in _MAY_BE_NONE:
                continue
            if type(value) is not int or value < low:
                raise OptionError(f"Expected {name} to be an integer >= {low}; got {value!r}.")
        for name in (*_POSITIVE, *_NOT_NEGATIVE):
            value = getattr(self, name)
            if value is None and name in _MAY_BE_NONE:
                continue
            least = "> 0" if name in _POSITIVE else ">= 0"
            if not _is_number(value) or value < 0 or (name in _POSITIVE and value == 0):
                raise OptionError(f"Expected {name} to be a finite number {least}; got {value!r}.")
        if not _is_number(self.edge_probability) or not 0 < self.edge_probability < 1:
            raise OptionError(
                "Expected edge_probability strictly between 0 and 1; got "
                f"{self.edge_probability!r}. To exclude edges, forbid them in the knowledge."
            )

    @classmethod
    def published(cls) -> VariationalOptions:
        """Return the setting closest to the paper: algorithm 1 from one start, relaxed draws."""
        return cls(
            updates="published",
            gradient="relaxed",
            shifting=False,
            resampling=False,
            n_graphs=1,
            n_restarts=1,
            warm_up_steps=0,
            order_prior="none",
            order_margin=1.5,
        )


def _is_number(value: object) -> bool:
    # bool is an int in Python; "inf" and NaN are floats.
    return isinstance(value, int | float) and type(value) is not bool and abs(value) < float("inf")
