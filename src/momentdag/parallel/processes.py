"""Tasks in processes of this machine, some of which may be killed.

The system kills a process when memory runs out, and says nothing. Tasks that had not ended are then
given to new processes, once; the second time the fit ends, and says what can be done. And worker
processes watch the one that started them: if that is killed, they end by themselves.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from typing import Any, TypeAlias

import joblib

from momentdag.errors import ClusterError, ClusterWarning

__all__ = ["run_in_processes"]

_logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_LOOKS = 1.0

Task: TypeAlias = tuple[Any, ...]

_watched_parent: int | None = None


def run_in_processes(
    function: Callable[..., Any], tasks: Iterable[Task], n_jobs: int, *, ordered: bool
) -> Generator[Any, None, None]:
    """Yield the results of tasks; those of a worker that died are run again once.

    Raises
    ------
    ClusterError
        If a worker died again.

    Warns
    -----
    ClusterWarning
        If a worker died for the first time.

    Examples
    --------
    >>> list(run_in_processes(max, [(1, 2), (5, 3)], 2, ordered=True))
    [2, 5]
    """
    numbered = enumerate(tasks)
    open_tasks: dict[int, Task] = {}

    def sent(pairs: Iterable[tuple[int, Task]]) -> Iterator[Any]:
        for k, task in pairs:
            open_tasks[k] = task
            yield joblib.delayed(_call)(os.getpid(), k, function, task)

    has_died = False
    again: list[tuple[int, Task]] = []
    while True:
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator" if ordered else "generator_unordered"
        )
        results = parallel(sent(chain(again, numbered)))
        try:
            for k, result in results:
                del open_tasks[k]
                yield result
            return
        except BrokenProcessPool as error:
            if has_died:
                raise ClusterError(_describe(error, "twice", len(open_tasks))) from error
            has_died = True
            message = _describe(error, "once", len(open_tasks))
            _logger.warning(message)
            warnings.warn(message, ClusterWarning, stacklevel=4)
            again = sorted(open_tasks.items())
        finally:
            results.close()


def _describe(error: BrokenProcessPool, times: str, n_open: int) -> str:
    killed = " by the system (SIGKILL)" if "SIGKILL" in str(error) else ""
    if times == "once":
        return (
            f"A worker process was ended{killed}, as happens when memory runs out; {n_open} tasks "
            "are run again."
        )
    return (
        f"A worker process was ended{killed} twice, as happens when memory runs out. Use fewer "
        "processes (jobs), fewer rows (max_rows) or columns, or a machine with more memory. A fit "
        "with a run folder can be resumed."
    )


def _call(parent: int, k: int, function: Callable[..., Any], task: Task) -> tuple[int, Any]:
    _watch(parent)
    return k, function(*task)


def _watch(parent: int) -> None:
    """End this process soon after its parent, unless it is the parent itself."""
    global _watched_parent
    if _watched_parent == parent or os.getppid() != parent:
        return
    _watched_parent = parent
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
