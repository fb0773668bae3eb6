"""Values whose arrays stay read-only when they are copied or sent to another process."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ReadOnlyArrays"]


class ReadOnlyArrays:
    """Make the arrays of a value read-only again after it was copied or unpickled.

    Pickling drops numpy's read-only flag; without it the value could be altered after its checks.

    Examples
    --------
    >>> import pickle
    >>> from momentdag.graph import MomentGraph
    >>> sent = pickle.loads(pickle.dumps(MomentGraph.from_edges(["a", "b"], mean=[("a", "b")])))
    >>> sent.mean_graph.flags.writeable
    False
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)
