"""Where a posterior comes from: engine, options, data, seed and version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from momentdag._version import __version__
from momentdag.errors import OptionError, quote

__all__ = ["Provenance"]


@dataclass(frozen=True)
class Provenance:
    """Where a posterior comes from: enough to reproduce it.

    Parameters
    ----------
    engine : str
        Name of the engine or baseline.
    options : mapping
        Every option of the engine, as plain JSON values.
    data_hash : str
        Fingerprint of the data (`momentdag.table.Dataset.fingerprint`).
    seed : int or None
        The seed the draws were made with.
    version : str
        Version of momentdag.
    status : str
        A sentence: "complete", or what went wrong.

    Raises
    ------
    OptionError
        If a value is not plain JSON and so could not be saved.

    Examples
    --------
    >>> Provenance("evidence", {"starts": (1, 2)}, seed=3).options
    {'starts': [1, 2]}
    """

    engine: str
    options: Mapping[str, Any] = field(default_factory=dict)
    data_hash: str = ""
    seed: int | None = None
    version: str = __version__
    status: str = "complete"

    def __post_init__(self) -> None:
        for what in ("engine", "data_hash", "version", "status"):
            if not isinstance(getattr(self, what), str):
                raise OptionError(f"Expected {what} as text; got {quote(getattr(self, what))}.")
        if self.seed is not None and type(self.seed) is not int:
            raise OptionError(
                f"Expected seed as an int or None; got {quote(self.seed)}. Use int(seed)."
            )
        try:
            # Stored as a file would return it: tuples as lists, keys as text.
            options = json.loads(json.dumps(dict(self.options), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"Expected options to be plain JSON values; {error}. Convert arrays to lists and "
                "numpy numbers to int or float, and leave out NaN and inf."
            ) from None
        object.__setattr__(self, "options", options)

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain JSON values."""
        return asdict(self)
