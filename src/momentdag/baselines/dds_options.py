"""The options of DDS, in a module that can be imported without the extra ``variational``."""

from __future__ import annotations

from dataclasses import dataclass

from momentdag.baselines.options import Options, number, whole

__all__ = ["DDSOptions"]


@dataclass(frozen=True)
class DDSOptions(Options):
    """Options of DDS.

    Parameters
    ----------
    n_hidden : int
        Hidden units of each network.
    batch_size : int
        Number of rows in a step; all rows of smaller tables.
    n_graphs : int
        Number of graphs drawn for a step.
    learning_rate, graph_rate : float
        Learning rates of Adam for the networks and for the distribution over graphs.
    edge_probability : float
        Prior probability of each edge.
    kl_weight : float
        λ; 1 makes the loss an evidence bound.
    shrinkage : float
        λ_2.
    edge_temperature, order_temperature : float
        Smoothness of the relaxed edges and orders.
    max_steps : int
        Maximum number of training steps, rounded up to whole chunks.
    patience : int
        Number of chunks of 500 steps without a new lowest loss after which training ends.
    """

    n_hidden: int = whole(16, at_least=1)
    batch_size: int = whole(64, at_least=1)
    n_graphs: int = whole(4, at_least=1)
    learning_rate: float = number(5e-3, above=0.0)
    graph_rate: float = number(2e-2, above=0.0)
    edge_probability: float = number(0.1, above=0.0, up_to=0.999)
    kl_weight: float = number(1.0, above=0.0, closed=True)
    shrinkage: float = number(1e-4, above=0.0, closed=True)
    edge_temperature: float = number(1.0, above=0.0)
    order_temperature: float = number(1.0, above=0.0)
    max_steps: int = whole(20_000, at_least=1)
    patience: int = whole(6, at_least=1)
