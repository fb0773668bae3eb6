"""The exception family: every refusal by momentdag is a `MomentdagError`.

A message says what was expected, what arrived, and what to do about it. Those about what was given
also derive from `ValueError`, so code that knows nothing of momentdag can catch them in the usual
way.
"""

__all__ = [
    "ClusterError",
    "ClusterWarning",
    "DataError",
    "DataWarning",
    "ExtrapolationWarning",
    "GraphError",
    "KnowledgeError",
    "MomentdagError",
    "MomentdagWarning",
    "OptionError",
    "StorageError",
    "quote",
]

_MAX_QUOTED = 100


class MomentdagError(Exception):
    """Base class of everything momentdag raises on purpose."""


class ClusterError(MomentdagError, RuntimeError):
    """A cluster cannot be reached or cannot do the work."""


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


class ClusterWarning(MomentdagWarning):
    """A worker of a cluster was lost; its work was done again."""


class DataWarning(MomentdagWarning):
    """The data are usable, but something in them deserves a look."""


class ExtrapolationWarning(MomentdagWarning):
    """An answer is asked for outside the range of the data."""


def quote(value: object) -> str:
    """Return a value for a message: as it would be typed, cut short if it is very long.

    Examples
    --------
    >>> quote("mek"), len(quote("x" * 5000))
    ("'mek'", 103)
    """
    try:
        text = repr(value)
    except Exception:  # foreign objects, and whole numbers of more than 4300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}..."
