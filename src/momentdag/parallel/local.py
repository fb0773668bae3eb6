"""Run tasks in this process, in other processes, or on a Dask cluster.

Everything parallel goes through joblib. On one machine ``n_jobs`` is the number of processes. If
joblib is configured for a Dask cluster (``joblib.parallel_config(backend="dask")``, or `cluster`),
the cluster decides and ``n_jobs`` is ignored. A task depends on nothing but its arguments, so the
result is the same wherever it runs.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from momentdag.errors import OptionError, require
from momentdag.parallel.leftovers import PREFIX, held, sweep_folders
from momentdag.parallel.processes import run_in_processes

__all__ = ["cluster", "common_folder", "is_serial", "run", "shared"]

_logger = logging.getLogger(__name__)
_TIMEOUT = 10.0


class _Shared:
    """Values that many tasks refer to, and the name that a cluster knows them by."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.name = ""
        self.client: Any = None


_SHARED: ContextVar[tuple[_Shared, ...]] = ContextVar("shared", default=())


def is_serial(n_jobs: int) -> bool:
    """Tell whether `run` would run its tasks one after the other in this process.

    Examples
    --------
    >>> is_serial(1), is_serial(2)
    (True, False)
    """
    return _is_inside_task() or (n_jobs == 1 and _client() is None)


def run(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    n_jobs: int,
    *,
    ordered: bool = True,
) -> Generator[Any, None, None]:
    """Yield ``function(*task)`` for each task as soon as it is ready.

    Close the generator to cancel the remaining tasks.

    Parameters
    ----------
    function : callable
        From a module that workers can import.
    tasks : iterable of tuple
    n_jobs : int
        Number of processes, -1 for all cores; ignored on a Dask cluster.
    ordered : bool
        Yield results in the order of the tasks rather than as they finish.

    Raises
    ------
    ClusterError
        If workers died again and again, or the cluster is gone.

    Warns
    -----
    ClusterWarning
        If a worker was lost; its tasks are run again by others.

    Examples
    --------
    >>> list(run(max, [(1, 2), (5, 3)], n_jobs=1))
    [2, 5]
    """
    if is_serial(n_jobs):
        for task in tasks:
            yield function(*task)
        return
    client = _client()
    results: Generator[Any, None, None]
    if client is None:
        results = run_in_processes(function, tasks, n_jobs, ordered=ordered)
    else:
        from momentdag.parallel.dask import Workers

        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator" if ordered else "generator_unordered"
        )
        results = Workers(client).watch(parallel, function, tasks, _SHARED.get())
    try:
        for result in results:  # noqa: UP028, which would close them too early
            yield result
    finally:
        with warnings.catch_warnings():
            # The tasks are cancelled on purpose.
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
            results.close()


@contextmanager
def shared(*values: Any) -> Iterator[None]:
    """Send these objects to each worker of a cluster once, however many tasks use them.

    A task that contains one of them, however deep inside its arguments, carries a reference
    instead. They must not change meanwhile, here or in a task. Without a cluster this does nothing.

    Examples
    --------
    >>> table = list(range(10))
    >>> with shared(table):
    ...     list(run(sum, [(table,), (table, 5)], n_jobs=1))
    [45, 50]
    """
    entry = _Shared(values)
    token = _SHARED.set((*_SHARED.get(), entry))
    try:
        yield
    finally:
        _SHARED.reset(token)
        if entry.client is not None:
            from momentdag.parallel.dask import forget

            forget(entry.client, entry.name)


@contextmanager
def common_folder() -> Iterator[Path]:
    """Yield a temporary folder for the tasks of this machine; other machines do not see it.

    Examples
    --------
    >>> with common_folder() as folder:
    ...     folder.is_dir()
    True
    """
    sweep_folders()
    # Some systems cannot remove a file that is still open; they clean up later.
    with TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name, held(Path(name)):
        inner = Path(name) / "shared"
        inner.mkdir()
        yield inner


@contextmanager
def cluster(
    address: str,
    timeout: float = _TIMEOUT,
    *,
    tls_ca_file: str | os.PathLike[str] | None = None,
    tls_cert: str | os.PathLike[str] | None = None,
    tls_key: str | os.PathLike[str] | None = None,
) -> Iterator[Any]:
    """Run parallel tasks on an existing Dask cluster.

    Dask sends pickled objects: the cluster can run any code in this process, and whoever reaches
    its scheduler any code on its workers. Over ``tcp://`` nothing is encrypted and nobody has to
    prove who they are; over ``tls://`` both sides do.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``tcp://10.0.0.1:8786`` or ``tls://10.0.0.1:8786``.
    timeout : float
        Seconds to wait for the scheduler, and for the first worker.
    tls_ca_file, tls_cert, tls_key : path-like, optional
        PEM files for a ``tls://`` address: the authority that signed the scheduler's certificate,
        and a certificate of one's own with its key. By default those of Dask's configuration.

    Yields
    ------
    dask.distributed.Client

    Raises
    ------
    MissingExtraError
        If dask.distributed is not installed.
    ClusterError
        If no scheduler answers, there are no workers, or they lack this version of momentdag.
    OptionError
        If a TLS file is missing, or given for an address that is not ``tls://``.

    Examples
    --------
    >>> with cluster("tcp://127.0.0.1:1", timeout=0.2):
    ...     pass
    Traceback (most recent call last):
    ...
    momentdag.errors.ClusterError: No Dask scheduler answered at 'tcp://127.0.0.1:1' within ...
    """
    require("distributed", "cloudpickle", extra="distributed", purpose="A Dask cluster")
    from momentdag.parallel.dask import connect

    files = {"tls_ca_file": tls_ca_file, "tls_client_cert": tls_cert, "tls_client_key": tls_key}
    with connect(address, timeout, _check_tls(address, files)) as client:
        _logger.info("Working on the cluster at %s.", address)
        with joblib.parallel_config(backend="dask", client=client):
            yield client


def _check_tls(
    address: str, files: dict[str, str | os.PathLike[str] | None]
) -> dict[str, str] | None:
    """Return the TLS files as text, or None if there are none."""
    given = {name: os.fspath(file) for name, file in files.items() if file is not None}
    if not given:
        return None
    if not address.startswith("tls://"):
        raise OptionError(
            f"Expected an address that begins with tls:// for TLS files; got {address!r}."
        )
    if len(given) < len(files):
        raise OptionError(
            "Expected three TLS files: of the authority, the certificate and its key; got "
            f"{len(given)}."
        )
    for file in given.values():
        if not Path(file).is_file():
            raise OptionError(f"Expected a readable TLS file; there is none at {file!r}.")
    return given


def _client() -> Any:
    """Return the client of the Dask cluster that joblib is configured for, or None."""
    backend, _ = get_active_backend()
    return getattr(backend, "client", None)


def _is_inside_task() -> bool:
    """Tell whether this code runs in a task of a cluster, which delegates no further."""
    if _client() is None:
        return False
    from momentdag.parallel.dask import is_worker

    return is_worker()
