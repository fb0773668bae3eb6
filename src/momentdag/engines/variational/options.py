"""The options of the variational engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from momentdag.engines.options import EngineOptions
from momentdag.errors import OptionError

__all__ = [
    "EdgeSpace",
    "Gradient",
    "Optimizer",
    "OrderPrior",
    "Restarts",
    "Returned",
    "Tuning",
    "Updates",
    "VariationalOptions",
]

Updates: TypeAlias = Literal["published", "likelihood", "joint"]
Optimizer: TypeAlias = Literal["adam", "lbfgs", "lbfgs_all"]
EdgeSpace: TypeAlias = Literal["variables", "ranks"]
Tuning: TypeAlias = Literal["none", "grid"]
Returned: TypeAlias = Literal["last", "best"]
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
    "inner_patience": 1,
    "patience": 1,
    "tuning_seed": 0,
}
_POSITIVE = (
    "learning_rate",
    "graph_rate",
    "edge_temperature",
    "variance_edge_temperature",
    "order_temperature",
)
_NOT_NEGATIVE = (
    "penalty_weight",
    "kl_weight",
    "mean_l2",
    "variance_l2",
    "tolerance",
    "inner_tolerance",
    "order_margin",
    "initial_score_spread",
)
_PROBABILITIES = ("edge_probability", "initial_edge_probability")
_MAY_BE_NONE = ("batch_size", "order_margin", "variance_edge_temperature")


@dataclass(frozen=True)
class VariationalOptions(EngineOptions):
    """Options of the variational engine; every one of them has a working default.

    Parameters
    ----------
    updates : {"likelihood", "published", "joint"}
        What moves the mean networks, the mean edges and the order: the likelihood; the squared
        error, as algorithm 1 has it; or one likelihood step for everything at once.
    optimizer : {"adam", "lbfgs", "lbfgs_all"}
        With "lbfgs" L-BFGS moves the networks, on rows (2 000 at least, or all) and graph draws
        that stay the same throughout a phase, and Adam edges and order. With "lbfgs_all", as
        published, L-BFGS moves everything that the phase moves: new graph draws for each step, the
        rows of a batch for the phase, which ends when it has converged.
    gradient : {"score", "relaxed"}
        How edge logits and order scores learn: by the score function, the drawn pairs of a step
        compared with each other; or, as published, through relaxed draws (Gumbel-softmax edges,
        SoftSort order, straight-through).
    edge_space : {"variables", "ranks"}
        What an edge logit is about: a pair of variables, or, as published, a pair of places in the
        order, whichever variables stand there (A = PᵀUP).
    tuning : {"none", "grid"}
        Whether batch size and hidden units are chosen before the fit, by the objective, from the
        paper's grid (16 fits more); the given ones then do not count.
    tuning_seed : int
        Seed of every fit of the grid.
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
        With "lbfgs_all" the most steps of a phase that does not converge.
    inner_tolerance : float
        With "lbfgs_all": fall of the running mean of the phase's loss, in nats per row, that counts
        as progress.
    inner_patience : int
        With "lbfgs_all": steps without progress that end a phase.
    warm_up_steps : int
        First steps, in which only the networks move.
    max_steps : int
        Steps after which the fit ends, converged or not (warm-up included).
    tolerance : float
        Improvement of the objective, in nats per row between two reports, that counts as one.
    patience : int
        Reports without improvement, one after each 500 steps, that count as none.
    returned : {"last", "best"}
        Which weights a restart ends with: the last, or those of its largest objective among all
        that were looked at.
    n_cuts : int
        How often learning rates are cut when nothing improves, before that means convergence.
    learning_rate : float
        Step of the networks.
    graph_rate : float
        Step of edge logits and order scores.
    edge_temperature, order_temperature : float
        Smoothness τ^M of the relaxed edges and τ of the relaxed order.
    variance_edge_temperature : float or None
        τ^V of the relaxed variance edges; None takes ``edge_temperature``.
    initial_edge_probability : float
        Probability φ of each edge at the start.
    initial_score_spread : float
        Standard deviation of the order scores log ψ at the start.
    edge_probability : float
        Prior probability of each edge, where knowledge states no other. Resampling takes it for the
        mean of an unknown rate.
    penalty_weight : float
        λ of the objective: multiplies the three weights of its regulariser.
    kl_weight : float
        n λ_Φ: nats of divergence from the prior count this many nats of likelihood.
    order_prior : {"uniform", "none"}
        Whether the divergence of the order from the uniform law counts; the paper leaves it out.
    mean_l2, variance_l2 : float
        λ_{Θ^M} and λ_{Θ^V}: weights of ‖θ‖² of the mean and the variance networks, per row.
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
    edge_space: EdgeSpace = "variables"
    tuning: Tuning = "none"
    tuning_seed: int = 0
    n_hidden: int = 8
    batch_size: int | None = 64
    shifting: bool = True
    n_restarts: int = 4
    restarts: Restarts = "mixed"
    n_graphs: int = 8
    mean_steps: int = 10
    variance_steps: int = 10
    inner_tolerance: float = 1e-3
    inner_patience: int = 10
    warm_up_steps: int = 2000
    max_steps: int = 30_000
    tolerance: float = 1e-3
    patience: int = 2
    returned: Returned = "last"
    n_cuts: int = 2
    learning_rate: float = 5e-3
    graph_rate: float = 2e-2
    edge_temperature: float = 1.0
    order_temperature: float = 1.0
    variance_edge_temperature: float | None = None
    initial_edge_probability: float = 0.5
    initial_score_spread: float = 0.1
    edge_probability: float = 0.1
    penalty_weight: float = 1.0
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
            "edge_space": get_args(EdgeSpace),
            "tuning": get_args(Tuning),
            "returned": get_args(Returned),
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
        for name in _PROBABILITIES:
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value < 1:
                raise OptionError(
                    f"Expected {name} strictly between 0 and 1; got {value!r}. To exclude edges, "
                    "forbid them in the knowledge."
                )
        if self.optimizer == "lbfgs_all" and (self.gradient != "relaxed" or self.warm_up_steps):
            raise OptionError(
                "Expected gradient='relaxed' and warm_up_steps=0 with optimizer='lbfgs_all', which "
                "moves edges and order by a line search on relaxed draws; got "
                f"{self.gradient!r} and {self.warm_up_steps!r}."
            )

    @classmethod
    def published(cls) -> VariationalOptions:
        """Return algorithm 1 as printed, from one start.

        What the paper does not print has the value that the objective chose: the table of
        ``docs/variational.md`` lists all of it.
        """
        return cls(
            updates="published",
            optimizer="lbfgs_all",
            gradient="relaxed",
            edge_space="ranks",
            tuning="grid",
            returned="best",
            shifting=False,
            resampling=False,
            n_graphs=1,
            n_restarts=1,
            mean_steps=50,
            variance_steps=50,
            inner_tolerance=1e-2,
            patience=5,
            warm_up_steps=0,
            n_cuts=0,
            kl_weight=1.0,
            mean_l2=1e-3,
            variance_l2=1e-2,
            order_prior="none",
            order_margin=1.5,
        )


def _is_number(value: object) -> bool:
    # bool is an int in Python; "inf" and NaN are floats.
    return isinstance(value, int | float) and type(value) is not bool and abs(value) < float("inf")
