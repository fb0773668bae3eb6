"""What the options of every engine share: made from a dictionary, stored as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from momentdag.errors import OptionError, did_you_mean

__all__ = ["EngineOptions"]


@dataclass(frozen=True)
class EngineOptions:
    """Options of an engine; children add fields with defaults and check them."""

    engine: ClassVar[str]

    @classmethod
    def from_mapping(cls, options: Mapping[str, Any] | None) -> Self:
        """Build options from a dictionary; an unknown key is refused with the known ones."""
        given = {} if options is None else dict(options)
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise OptionError(
                    f"Expected {cls.engine} options among {known}; got {key!r}."
                    f"{did_you_mean(key, known)}"
                )
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return asdict(self)
