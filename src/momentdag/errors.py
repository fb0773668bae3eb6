"""The exception family: every refusal by momentdag is a `MomentdagError`.

A message says what was expected, what arrived, and what to do about it. The members also derive
from `ValueError`, so code that knows nothing of momentdag can catch them in the usual way.
"""

__all__ = [
    "DataError",
    "DataWarning",
    "ExtrapolationWarning",
    "GraphError",
    "KnowledgeError",
    "MomentdagError",
    "MomentdagWarning",
    "OptionError",
    "StorageError",
]


class MomentdagError(Exception):
    """Base class of everything momentdag raises on purpose."""


class DataError(MomentdagError, ValueError):
    """A table or file cannot be used as data."""


class GraphError(MomentdagError, ValueError):
    """A graph is malformed, cyclic, or labelled with other names than expected."""


class KnowledgeError(MomentdagError, ValueError):
    """Domain knowledge is malformed, names an unknown variable or contradicts itself."""


class OptionError(MomentdagError, ValueError):
    """An option has a value outside its declared choices or range."""


class StorageError(MomentdagError, ValueError):
    """A file could not be written, or is not an intact momentdag file."""


class MomentdagWarning(UserWarning):
    """Base class of the warnings momentdag gives."""


class DataWarning(MomentdagWarning):
    """The data are usable, but something in them deserves a look."""


class ExtrapolationWarning(MomentdagWarning):
    """An answer is asked for outside the range of the data."""
