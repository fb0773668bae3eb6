"""Answers that look alike in a notebook and in a console, and say what they are in one line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import pandas as pd

from momentdag.display import html, text

__all__ = ["Described", "Printable", "Writer"]


class Writer(Protocol):
    """What `html` and `text` have in common."""

    def sentence(self, text: str) -> str:
        """Return a paragraph."""

    def table(self, frame: pd.DataFrame, *, index: bool = False, full: str = "to_frame()") -> str:
        """Return a table; ``full`` names what has all of its rows."""

    def block(self, title: str, parts: Sequence[str]) -> str:
        """Return parts under a title."""


class Printable(ABC):
    """An answer with a title, sentences and tables, written once for notebook and console.

    A subclass says `_headline` and `_write`. A dataclass needs ``repr=False``.
    """

    __slots__ = ()

    @abstractmethod
    def _headline(self) -> str:
        """Return the essential answer, for `repr`."""

    @abstractmethod
    def _write(self, to: Writer) -> str:
        """Return the answer as HTML or as text."""

    def _repr_html_(self) -> str:
        return self._write(html)

    def __str__(self) -> str:
        return self._write(text)

    def __repr__(self) -> str:
        return text.summary(type(self).__name__, self._headline())


class Described(Printable):
    """An answer that describes itself in lines of text."""

    __slots__ = ()

    @abstractmethod
    def describe(self) -> str:
        """Return the answer in plain sentences."""

    def _headline(self) -> str:
        return self.describe().partition("\n")[0].removesuffix(".")

    def _write(self, to: Writer) -> str:
        first, *others = self.describe().splitlines()
        return to.block(first, [to.sentence(line) for line in others])

    def __str__(self) -> str:
        return self.describe()
