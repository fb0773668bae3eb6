"""The workers of a Dask cluster: what they are sent, and what is reported when one is lost.

joblib's Dask backend submits the tasks, and Dask reruns those of a worker that dies. Two things are
added here. Objects that many tasks share go to each worker once, as a plugin; Dask also gives
plugins to workers that start later, so nothing is lost with a worker. And lost workers are named.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import io
import logging
import pickle
import queue
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias
from uuid import uuid4

import cloudpickle
import joblib
from distributed import Client, Security, WorkerPlugin, get_worker
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker
from threadpoolctl import threadpool_limits

from momentdag._version import __version__
from momentdag.errors import ClusterError, ClusterWarning

__all__ = ["Workers", "connect", "forget", "is_worker"]

_logger = logging.getLogger(__name__)
_SLACK = 0.5  # seconds in which Dask may say itself what was wrong

# For the id of a shared object: the name of its plugin and its place there.
_References: TypeAlias = dict[int, tuple[str, int]]

_GONE = (CommClosedError, asyncio.CancelledError, concurrent.futures.CancelledError)

# Shared objects of this process: with a single-threaded cluster joblib runs the tasks here.
_LOCAL: dict[str, tuple[Any, ...]] = {}


def is_worker() -> bool:
    """Tell whether this code is running in a task on a worker."""
    try:
        get_worker()
    except ValueError:
        return False
    return True


@contextmanager
def connect(address: str, timeout: float, tls: Mapping[str, str] | None = None) -> Iterator[Client]:
    """Yield a client of the scheduler at ``address``, whose workers have this momentdag.

    ``tls`` holds arguments of `distributed.Security`.
    """
    # None: what the configuration of Dask says, if anything.
    security = None if tls is None else Security(require_encryption=True, **tls)
    try:
        client = _within(
            timeout,
            lambda: Client(address, timeout=timeout, set_as_default=False, security=security),
        )
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(
            f"No Dask scheduler answered at {address!r} within {timeout:g} seconds ({error}). "
            "Check the address, or start one with `dask scheduler`."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise ClusterError(
                f"The cluster at {address!r} had no workers within {timeout:g} seconds. "
                f"Start some with `dask worker {address}`."
            ) from None
        _check_versions(client)
        yield client


def _within(timeout: float, function: Callable[[], Client]) -> Client:
    """Return what a function returns, or raise `TimeoutError`.

    Dask's own timeouts do not cover a server that accepts a connection and never says a word. The
    thread that waits for it is left behind; it does not keep the process alive.
    """
    results: queue.SimpleQueue[Client | Exception] = queue.SimpleQueue()

    def call() -> None:
        try:
            results.put(function())
        except Exception as error:
            results.put(error)

    threading.Thread(target=call, daemon=True).start()
    try:
        result = results.get(timeout=timeout + _SLACK)
    except queue.Empty:
        raise TimeoutError("something accepts connections there, and does not answer") from None
    if isinstance(result, Exception):
        raise result
    return result


def _check_versions(client: Client) -> None:
    """Refuse workers without momentdag or with another version of it."""

    # A nested function is pickled by value, so workers can run it without momentdag.
    def version() -> str:
        try:
            from momentdag._version import __version__ as installed
        except ImportError as error:
            return f"cannot import momentdag ({error})"
        return f"has momentdag {installed}"

    expected = f"has momentdag {__version__}"
    answers = client.run(version).items()
    wrong = [f"{worker} {answer}" for worker, answer in answers if answer != expected]
    if wrong:
        raise ClusterError(
            f"Expected workers with momentdag {__version__}; {'; '.join(wrong[:5])}"
            f"{'; ...' if len(wrong) > 5 else ''}. Install that version where the workers run."
        )


class _SharedObjects(WorkerPlugin):  # type: ignore[misc]
    """Objects that a worker stores for the tasks it will run."""

    def __init__(self, name: str, values: tuple[Any, ...]) -> None:
        self.name = name
        self.values = values
        self._limits: Any = None

    def setup(self, worker: Any) -> None:
        # One BLAS thread: sums then do not depend on the cores of a worker. Set for the whole
        # process, because tasks may share it and must not undo the limit for one another.
        self._limits = threadpool_limits(1)

    def teardown(self, worker: Any) -> None:
        if self._limits is not None:
            self._limits.restore_original_limits()


def forget(client: Client, name: str) -> None:
    """Let workers drop the objects that they store under ``name``."""
    _LOCAL.pop(name, None)
    # If the cluster is gone, so are the objects.
    with suppress(Exception):
        client.unregister_worker_plugin(name)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: io.BytesIO, references: _References) -> None:
        super().__init__(file)
        self._references = references

    def persistent_id(self, value: Any) -> tuple[str, int] | None:
        return self._references.get(id(value))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, reference: Any) -> Any:
        name, place = reference
        values = _LOCAL[name] if name in _LOCAL else get_worker().plugins[name].values
        return values[place]


def _call(packed: bytes) -> Any:
    function, task = _Unpickler(io.BytesIO(packed)).load()
    return function(*task)


class Workers:
    """The workers of one cluster during one call."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known = set(client.nthreads())

    def watch(
        self,
        parallel: joblib.Parallel,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Any, ...]],
        shared: Iterable[Any],
    ) -> Generator[Any, None, None]:
        """Yield the results of the tasks, and warn of each worker that is lost meanwhile."""
        references = self._send(shared)
        # Packed: joblib would scatter a large object to one worker and lose it with that worker.
        results = parallel(
            joblib.delayed(_call)(_pack(function, task, references)) for task in tasks
        )
        try:
            for result in results:
                self._report_lost_workers()
                yield result
            self._report_lost_workers()
        except KilledWorker as error:
            self._report_lost_workers()
            raise ClusterError(
                f"{error.allowed_failures + 1} workers died running the same task, the last one at "
                f"{error.last_worker.address}. Check the worker logs; often they ran out of memory."
            ) from error
        except _GONE as error:
            raise ClusterError(
                f"Lost the connection to the Dask scheduler ({error}). Start it again; a fit with "
                "a run folder can be resumed, on the cluster or on this machine."
            ) from error
        finally:
            results.close()

    def _send(self, shared: Iterable[Any]) -> _References:
        """Send objects that the workers do not have yet; return the reference to each of them."""
        references = {}
        for entry in shared:
            if entry.client is not self._client:
                entry.client, entry.name = self._client, f"momentdag-{uuid4().hex}"
                _LOCAL[entry.name] = entry.values
                self._client.register_plugin(_SharedObjects(entry.name, entry.values))
            references.update({id(value): (entry.name, k) for k, value in enumerate(entry.values)})
        return references

    def _report_lost_workers(self) -> None:
        now = set(self._client.nthreads())
        for address in sorted(self._known - now):
            if self._was_retired(address):
                _logger.info("Worker %s has left the cluster.", address)
                continue
            message = f"Worker {address} was lost; other workers run its tasks again."
            _logger.warning(message)
            warnings.warn(message, ClusterWarning, stacklevel=5)
        self._known = now

    def _was_retired(self, address: str) -> bool:
        events = [message for _, message in self._client.get_events(address)]
        removals = [event for event in events if event.get("action") == "remove-worker"]
        return bool(removals) and bool(removals[-1].get("expected", False))


def _pack(function: Callable[..., Any], task: tuple[Any, ...], references: _References) -> bytes:
    file = io.BytesIO()
    _Pickler(file, references).dump((function, task))
    return file.getvalue()
