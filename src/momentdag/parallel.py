"""Work that may be done elsewhere: here, in other processes, or on a Dask cluster.

Everything parallel goes through joblib. On one machine ``n_jobs`` says how many processes there
are. Where joblib has been told to use a Dask cluster (``joblib.parallel_config(backend="dask")``,
or `cluster`), that decides, and ``n_jobs`` is not looked at. A task is a function of its arguments
and of nothing else, so the result is the same wherever it runs.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from momentdag.errors import ClusterError

__all__ = ["cluster", "common_folder", "run", "shared", "stays_here"]

_logger = logging.getLogger(__name__)
_TIMEOUT = 10.0


class _Shared:
    """Values that many tasks hold, and under which name a cluster knows them."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.name = ""
        self.client: Any = None


_SHARED: ContextVar[tuple[_Shared, ...]] = ContextVar("shared", default=())


def stays_here(n_jobs: int) -> bool:
    """Tell whether `run` would work through its tasks in this process, one after the other.

    Examples
    --------
    >>> stays_here(1), stays_here(2)
    (True, False)
    """
    return _inside_a_task() or (n_jobs == 1 and _client() is None)


def run(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    n_jobs: int,
    *,
    ordered: bool = True,
) -> Generator[Any, None, None]:
    """Yield ``function(*task)`` for each task, each when it is there.

    Close the generator to give up what is left.

    Parameters
    ----------
    function : callable
        Of a module that workers can import.
    tasks : iterable of tuple
    n_jobs : int
        Processes, -1 for all cores. A Dask cluster, if there is one, takes its own number.
    ordered : bool
        In the order of the tasks, or as they end.

    Raises
    ------
    ClusterError
        If one task lost several workers in turn, or the cluster is gone.

    Warns
    -----
    ClusterWarning
        If a worker was lost; its tasks were run again by others.

    Examples
    --------
    >>> list(run(max, [(1, 2), (5, 3)], n_jobs=1))
    [2, 5]
    """
    if stays_here(n_jobs):
        for task in tasks:
            yield function(*task)
        return
    client = _client()
    parallel = joblib.Parallel(
        n_jobs=n_jobs, return_as="generator" if ordered else "generator_unordered"
    )
    if client is None:
        results = parallel(joblib.delayed(function)(*task) for task in tasks)
    else:
        from momentdag.workers import Workers

        results = Workers(client).watch(parallel, function, tasks, _SHARED.get())
    try:
        for result in results:  # noqa: UP028, which would close them too early
            yield result
    finally:
        with warnings.catch_warnings():
            # Cancelled on purpose if it comes to that.
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
            results.close()


@contextmanager
def shared(*values: Any) -> Iterator[None]:
    """Send these objects to each worker of a cluster once, whichever tasks hold them.

    A task that holds one of them, however deep inside its arguments, carries a reference instead.
    They must not change meanwhile, here or in tasks. Elsewhere than on a cluster this does nothing.

    Examples
    --------
    >>> table = list(range(10))
    >>> with shared(table):
    ...     list(run(sum, [(table,), (table, 5)], n_jobs=1))
    [45, 50]
    """
    more = _Shared(values)
    token = _SHARED.set((*_SHARED.get(), more))
    try:
        yield
    finally:
        _SHARED.reset(token)
        if more.client is not None:
            from momentdag.workers import forget

            forget(more.client, more.name)


@contextmanager
def common_folder() -> Iterator[Path]:
    """Yield a folder of this machine that lasts while tasks run; on others it does not exist.

    Examples
    --------
    >>> with common_folder() as folder:
    ...     folder.is_dir()
    True
    """
    # On some systems a file that is still open cannot be removed: then the system will.
    with TemporaryDirectory(prefix="momentdag-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def cluster(address: str, timeout: float = _TIMEOUT) -> Iterator[Any]:
    """Run what is parallel on an existing Dask cluster.

    Parameters
    ----------
    address : str
        Of its scheduler, such as ``tcp://10.0.0.1:8786``.
    timeout : float
        Seconds to wait for the scheduler, and for the first worker.

    Yields
    ------
    dask.distributed.Client

    Raises
    ------
    ClusterError
        If dask.distributed is not installed, nobody answers at the address, there are no workers,
        or they lack momentdag or have another version of it.

    Examples
    --------
    >>> with cluster("tcp://127.0.0.1:1", timeout=0.2):
    ...     pass
    Traceback (most recent call last):
    ...
    momentdag.errors.ClusterError: Expected a Dask scheduler at 'tcp://127.0.0.1:1'; nobody ...
    """
    try:
        from momentdag.workers import connect
    except ImportError as error:
        raise ClusterError(
            f"Expected dask.distributed for work on a cluster; it is not installed ({error}). "
            "Install momentdag[distributed]."
        ) from None
    with connect(address, timeout) as client:
        _logger.info("Working on the cluster at %s.", address)
        with joblib.parallel_config(backend="dask", client=client):
            yield client


def _client() -> Any:
    """Return the client of the Dask cluster that joblib has been told to use, or None."""
    backend, _ = get_active_backend()
    return getattr(backend, "client", None)


def _inside_a_task() -> bool:
    """Tell whether this is a worker of a cluster: what it is given it does itself."""
    if _client() is None:
        return False
    from momentdag.workers import is_worker

    return is_worker()
