"""A progress bar for long fits."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from tqdm.auto import tqdm

__all__ = ["ProgressBar"]


class ProgressBar:
    """Show each stage of a fit as a tqdm bar on standard error; a context manager.

    Examples
    --------
    >>> with ProgressBar(disable=True) as report:
    ...     report("the order search", 1, 2)
    """

    def __init__(self, *, disable: bool = False) -> None:
        self._disable = disable
        self._bar: Any = None
        self._stage = ""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` steps of ``stage`` are done."""
        if stage != self._stage or self._bar is None:
            self._close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=stage, disable=self._disable, leave=False)
        bar = self._bar
        bar.total, bar.n = total, done
        bar.refresh()
