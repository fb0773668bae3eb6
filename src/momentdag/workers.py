"""The workers of a Dask cluster: what they are sent, and what is said when one is lost.

joblib's Dask backend submits the tasks and Dask repeats those of a worker that dies. Two things are
added here. Objects that many tasks hold go to each worker once, as a plugin: Dask gives plugins to
workers that start later, too, so that nothing is lost with a worker. And lost workers are named.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import io
import logging
import pickle
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import cloudpickle
import joblib
from distributed import Client, WorkerPlugin, get_worker
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker
from threadpoolctl import threadpool_limits

from momentdag._version import __version__
from momentdag.errors import ClusterError, ClusterWarning

__all__ = ["Workers", "connect", "forget", "is_worker"]

_logger = logging.getLogger(__name__)

_GONE = (CommClosedError, asyncio.CancelledError, concurrent.futures.CancelledError)

# What this process shares: while a cluster has a single thread joblib leaves the work to us.
_HERE: dict[str, tuple[Any, ...]] = {}


def is_worker() -> bool:
    """Tell whether this is a task that a worker runs."""
    try:
        get_worker()
    except ValueError:
        return False
    return True


@contextmanager
def connect(address: str, timeout: float) -> Iterator[Client]:
    """Give a client of the scheduler at ``address`` whose workers can do our work."""
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(
            f"Expected a Dask scheduler at {address!r}; nobody answered within {timeout:g} "
            f"seconds ({error}). Check the address, or start one with `dask scheduler`."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise ClusterError(
                f"Expected workers at {address!r}; there were none within {timeout:g} seconds. "
                f"Start some with `dask worker {address}`."
            ) from None
        _check_versions(client)
        yield client


def _check_versions(client: Client) -> None:
    """Refuse workers that cannot do the work, or might do it in another way."""

    # A function within a function travels by value: workers need nothing of ours to run it.
    def version() -> str:
        try:
            from momentdag._version import __version__ as found
        except ImportError as error:
            return f"cannot import momentdag ({error})"
        return f"has momentdag {found}"

    ours = f"has momentdag {__version__}"
    wrong = [f"{who} {what}" for who, what in client.run(version).items() if what != ours]
    if wrong:
        raise ClusterError(
            f"Expected workers with momentdag {__version__}; {'; '.join(wrong[:5])}"
            f"{'; ...' if len(wrong) > 5 else ''}. Install that version where the workers run."
        )


class _Holder(WorkerPlugin):  # type: ignore[misc]
    """Objects that a worker holds for the tasks it will run."""

    def __init__(self, name: str, values: tuple[Any, ...]) -> None:
        self.name = name
        self.values = values
        self._limits: Any = None

    def setup(self, worker: Any) -> None:
        # One thread inside: sums then do not depend on how many cores a worker has. Set for the
        # whole process, as tasks may share it and none may undo it for another.
        self._limits = threadpool_limits(1)

    def teardown(self, worker: Any) -> None:
        if self._limits is not None:
            self._limits.restore_original_limits()


def forget(client: Client, name: str) -> None:
    """Let workers drop what they hold under ``name``."""
    _HERE.pop(name, None)
    # Should the cluster be gone, there is nothing left to drop.
    with suppress(Exception):
        client.unregister_worker_plugin(name)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: io.BytesIO, held: dict[int, tuple[str, int]]) -> None:
        super().__init__(file)
        self._held = held

    def persistent_id(self, value: Any) -> tuple[str, int] | None:
        return self._held.get(id(value))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, held: Any) -> Any:
        name, place = held
        values = _HERE[name] if name in _HERE else get_worker().plugins[name].values
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
        """Yield the results of the tasks, and warn of each worker that is lost on the way."""
        held = self._hold(shared)
        # As bytes: joblib would scatter a large object to one worker and lose it with that one.
        results = parallel(joblib.delayed(_call)(_pack(function, task, held)) for task in tasks)
        try:
            for result in results:
                self._name_the_lost()
                yield result
            self._name_the_lost()
        except KilledWorker as error:
            self._name_the_lost()
            raise ClusterError(
                f"Expected workers that stay; {error.allowed_failures + 1} died one after the "
                f"other while they ran the same task, the last at {error.last_worker.address}. "
                "Their logs say why; often memory has run out."
            ) from error
        except _GONE as error:
            raise ClusterError(
                f"Expected the cluster to stay; its scheduler is gone ({error}). Start it again; a "
                "fit in a run folder can be resumed, here or there."
            ) from error
        finally:
            results.close()

    def _hold(self, shared: Iterable[Any]) -> dict[int, tuple[str, int]]:
        """Send what is not there yet; return where workers find each object, by its id here."""
        held = {}
        for more in shared:
            if more.client is not self._client:
                more.client, more.name = self._client, f"momentdag-{uuid4().hex}"
                _HERE[more.name] = more.values
                self._client.register_plugin(_Holder(more.name, more.values))
            held.update({id(value): (more.name, k) for k, value in enumerate(more.values)})
        return held

    def _name_the_lost(self) -> None:
        now = set(self._client.nthreads())
        for address in sorted(self._known - now):
            if self._left_in_peace(address):
                _logger.info("Worker %s has left the cluster.", address)
                continue
            message = f"Worker {address} was lost; what it was doing is done again by others."
            _logger.warning(message)
            warnings.warn(message, ClusterWarning, stacklevel=5)
        self._known = now

    def _left_in_peace(self, address: str) -> bool:
        events = [message for _, message in self._client.get_events(address)]
        removals = [event for event in events if event.get("action") == "remove-worker"]
        return bool(removals) and bool(removals[-1].get("expected", False))


def _pack(
    function: Callable[..., Any], task: tuple[Any, ...], held: dict[int, tuple[str, int]]
) -> bytes:
    file = io.BytesIO()
    _Pickler(file, held).dump((function, task))
    return file.getvalue()
