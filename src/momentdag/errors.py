"""The exceptions and warnings: every error that momentdag raises is a `MomentdagError`.

A message says what was expected, what arrived, and what to do about it. Errors about user input
also derive from `ValueError`, so code that knows nothing of momentdag can catch them.

Advice that names an option is written by a `Spelling`: Python says ``engine_options={'family':
'gp'}``, the command line ``--option family=gp``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, TypeAlias

__all__ = [
    "ClusterError",
    "ClusterWarning",
    "DataError",
    "DataWarning",
    "ExtrapolationWarning",
    "GraphError",
    "KnowledgeError",
    "MissingExtraError",
    "MomentdagError",
    "MomentdagWarning",
    "OptionError",
    "Spelling",
    "StorageError",
    "as_python",
    "did_you_mean",
    "quote",
    "require",
]

Spelling: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Formats arguments of `momentdag.MomentDAG` for one interface; ``...`` stands for any value."""

_MAX_QUOTED = 100


def as_python(arguments: Mapping[str, Any]) -> str:
    """Write arguments as in a call from Python.

    Examples
    --------
    >>> as_python({"n_draws": ..., "engine_options": {"family": "gp"}})
    "n_draws=..., engine_options={'family': 'gp'}"
    """
    return ", ".join(f"{name}={_literal(value)}" for name, value in arguments.items())


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key!r}: {_literal(entry)}" for key, entry in value.items())
        return f"{{{entries}}}"
    return "..." if value is ... else repr(value)


class MomentdagError(Exception):
    """Base class of everything momentdag raises on purpose.

    Parameters
    ----------
    message : str
        What was expected and what arrived.
    fit_with : mapping, optional
        Arguments of `momentdag.MomentDAG` that avoid the error; the message ends with them.

    Examples
    --------
    >>> error = OptionError("The exact method takes 4 variables.", fit_with={"n_draws": 500})
    >>> str(error)
    'The exact method takes 4 variables. Fit with n_draws=500.'
    >>> error.text(lambda arguments: f"--draws {arguments['n_draws']}")
    'The exact method takes 4 variables. Fit with --draws 500.'
    """

    def __init__(self, message: str, *, fit_with: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.fit_with = fit_with

    def text(self, spell: Spelling = as_python) -> str:
        """Return the whole message, with its advice spelled for one interface."""
        message = super().__str__()
        return message if self.fit_with is None else f"{message} Fit with {spell(self.fit_with)}."

    def __str__(self) -> str:
        return self.text()


class ClusterError(MomentdagError, RuntimeError):
    """A cluster cannot be reached or cannot do the work."""


class DataError(MomentdagError, ValueError):
    """A table or file cannot be used as data."""


class GraphError(MomentdagError, ValueError):
    """A graph is malformed, cyclic, or has unexpected names."""


class KnowledgeError(MomentdagError, ValueError):
    """Domain knowledge is malformed, names an unknown variable or contradicts itself."""


class MissingExtraError(MomentdagError, ImportError):
    """A feature needs packages that an optional extra of momentdag installs."""


class OptionError(MomentdagError, ValueError):
    """An option has a value outside its declared choices or range."""


class StorageError(MomentdagError, ValueError):
    """A file could not be written, or is not an intact momentdag file."""


class MomentdagWarning(UserWarning):
    """Base class of the warnings that momentdag issues."""


class ClusterWarning(MomentdagWarning):
    """A worker of a cluster was lost; its tasks were run again."""


class DataWarning(MomentdagWarning):
    """The data are usable, but something in them should be checked."""


class ExtrapolationWarning(MomentdagWarning):
    """An answer is asked for outside the range of the data."""


def quote(value: object) -> str:
    """Return the `repr` of a value for a message, truncated if it is very long.

    Examples
    --------
    >>> quote("mek"), len(quote("x" * 5000))
    ("'mek'", 103)
    """
    try:
        text = repr(value)
    except Exception:  # a broken `repr`, or an integer of more than 4300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}..."


def did_you_mean(name: object, choices: Iterable[str], n: int = 1) -> str:
    """Return a sentence on what a misspelt name may be, with a space before it, or nothing.

    Examples
    --------
    >>> did_you_mean("respons", ["dose", "response"])
    " Did you mean 'response'?"
    >>> did_you_mean("DOSE ", ["dose", "response"]), did_you_mean("temperature", ["dose"])
    (" Did you mean 'dose'?", '')
    """
    known = [str(choice) for choice in choices]
    close = difflib.get_close_matches(str(name), known, n=n)
    # Similarity of letters misses a name that differs in case only, such as 'x' and 'X'.
    folded = {choice.casefold().strip(): choice for choice in known}
    same = folded.get(str(name).casefold().strip())
    if same is not None and not close:
        close = [same]
    return f" Did you mean {' or '.join(quote(one) for one in close)}?" if close else ""


def require(*packages: str, extra: str, purpose: str) -> None:
    """Check that the packages of an optional extra are installed, without importing them.

    Raises
    ------
    MissingExtraError
        If one is missing; the message names it and the extra that installs it.

    Examples
    --------
    >>> require("numpy", "no_such_package", extra="variational", purpose="The variational engine")
    Traceback (most recent call last):
    ...
    momentdag.errors.MissingExtraError: The variational engine needs no_such_package; install
    momentdag[variational].
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(f"{purpose} needs {package}; install momentdag[{extra}].")
