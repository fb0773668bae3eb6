"""Options of the baselines: frozen values that declare their ranges beside their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from momentdag.engines.options import EngineOptions
from momentdag.errors import OptionError

__all__ = ["Options", "number", "whole"]


@dataclass(frozen=True)
class _Whole:
    at_least: int
    optional: bool

    @property
    def expected(self) -> str:
        also = " or None" if self.optional else ""
        return f"a whole number >= {self.at_least}{also}"

    def admits(self, value: object) -> bool:
        if value is None:
            return self.optional
        return type(value) is int and value >= self.at_least


@dataclass(frozen=True)
class _Number:
    above: float
    up_to: float
    closed: bool

    @property
    def expected(self) -> str:
        low = f"{'>=' if self.closed else '>'} {self.above:g}"
        return f"a finite number {low}" + (
            f" and <= {self.up_to:g}" if isfinite(self.up_to) else ""
        )

    def admits(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return False
        low = self.above <= value if self.closed else self.above < value
        return low and value <= self.up_to


@dataclass(frozen=True)
class _Choice:
    """What a field annotated with a `Literal` admits."""

    among: tuple[Any, ...]

    @property
    def expected(self) -> str:
        return f"one of {list(self.among)}"

    def admits(self, value: object) -> bool:
        return any(type(value) is type(known) and value == known for known in self.among)


def whole(default: int | None, at_least: int) -> Any:
    """Declare a whole number; if the default is None, None is allowed too."""
    return field(default=default, metadata={"range": _Whole(at_least, default is None)})


def number(
    default: float, above: float, up_to: float = float("inf"), *, closed: bool = False
) -> Any:
    """Declare a real number above a bound; ``closed`` admits the bound itself."""
    return field(default=default, metadata={"range": _Number(above, up_to, closed)})


@dataclass(frozen=True)
class Options(EngineOptions):
    """Base class of the options: checks the fields and converts to plain values.

    Fields declare their range by `whole` and `number`; closed choices are annotated as `Literal`.

    Raises
    ------
    OptionError
        If a value is outside its choices or range.
    """

    engine: ClassVar[str] = "baseline"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for item in fields(self):
            value = getattr(self, item.name)
            if get_origin(hints[item.name]) is Literal:
                declared = _Choice(get_args(hints[item.name]))
            else:
                declared = item.metadata["range"]
            if not declared.admits(value):
                raise OptionError(f"Expected {item.name} as {declared.expected}; got {value!r}.")

    @classmethod
    def read(cls, options: Self | Mapping[str, Any] | None) -> Self:
        """Return options from a mapping, from themselves, or the defaults from None.

        Raises
        ------
        OptionError
            If a key is unknown, or the options are those of another method.
        """
        if isinstance(options, cls):
            return options
        if options is not None and not isinstance(options, Mapping):
            raise OptionError(
                f"Expected options as a mapping or {cls.__name__}; got {type(options).__name__}."
            )
        return cls.from_mapping(options)
