"""Values whose arrays stay read-only wherever they are sent."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ReadOnlyArrays"]


class ReadOnlyArrays:
    """Make the arrays of a value read-only again after it was copied or unpickled.

    numpy forgets the flag on the way to another process; a value that could be altered there would
    no longer be the one that was checked.

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
