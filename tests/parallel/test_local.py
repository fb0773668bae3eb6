"""Work here, in other processes and on a real Dask cluster, one of whose workers is killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag import parallel
from momentdag.errors import ClusterError, ClusterWarning, MissingExtraError, OptionError
from momentdag.parallel import dask as dask_cluster
from momentdag.stability import bootstrap

distributed = pytest.importorskip("distributed")

QUICK = {"n_inducing": 10, "noise": "gaussian", "n_chains": 3}
LINEAR = {"family": "linear", "method": "chain"}


@pytest.fixture(scope="module")
def address():
    """A cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def table():
    return md.simulate.preset("sparse-5", np.random.default_rng(0), 100).data


def fitted(table, n_jobs=1, options=QUICK):
    estimator = md.MomentDAG(n_draws=150, n_jobs=n_jobs, random_state=3, engine_options=options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(table).posterior_


def assert_same(first, second):
    np.testing.assert_array_equal(first.mean_graphs, second.mean_graphs)
    np.testing.assert_array_equal(first.variance_graphs, second.variance_graphs)
    np.testing.assert_array_equal(first.log_posterior, second.log_posterior)


@pytest.fixture(scope="module")
def alone(table):
    return fitted(table)


def test_results_come_in_order_or_as_they_end():
    tasks = [(2, 3), (1, 1), (3, 2)]
    for n_jobs in (1, 2):
        assert list(parallel.run(pow, tasks, n_jobs)) == [8, 1, 9]
        assert sorted(parallel.run(pow, tasks, n_jobs, ordered=False)) == [1, 8, 9]


def test_two_processes_give_the_same_bits(table, alone):
    assert_same(fitted(table, 2), alone)


def test_a_cluster_gives_the_same_bits_whatever_n_jobs_says(table, alone, address):
    with parallel.cluster(address):
        assert not parallel.is_serial(1)
        assert os.getpid() not in parallel.run(os.getpid, [()] * 4, 1)
        assert_same(fitted(table), alone)
    assert parallel.is_serial(1)


def test_joblib_s_own_way_to_a_cluster_will_do(table, address):
    alone = fitted(table, options=LINEAR)
    with distributed.Client(address), joblib.parallel_config(backend="dask"):
        assert_same(fitted(table, options=LINEAR), alone)


def test_a_killed_worker_is_named_and_changes_nothing(table, alone, address):
    killed = []

    def kill_one_that_works():
        def n_running(dask_worker):
            return len(dask_worker.state.executing)

        with distributed.Client(address, set_as_default=False) as client:
            processes = client.run(os.getpid)
            while not killed:
                for worker, n in client.run(n_running).items():
                    if n and not killed:
                        os.kill(processes[worker], signal.SIGKILL)
                        killed.append(worker)
                time.sleep(0.01)

    killer = threading.Thread(target=kill_one_that_works, daemon=True)
    with parallel.cluster(address):
        killer.start()
        with pytest.warns(ClusterWarning, match="was lost") as caught:
            posterior = fitted(table)
    killer.join(timeout=10)
    assert len(killed) == 1
    assert killed[0] in str(caught[0].message)
    assert_same(posterior, alone)


def test_the_table_travels_once(address, monkeypatch):
    table = md.simulate.preset("sparse-5", np.random.default_rng(0), 2000).data
    sent, packed = [], []
    holder, pack = dask_cluster._SharedObjects, dask_cluster._pack

    def counting_shared_objects(name, values):
        sent.extend(value.nbytes for value in values if isinstance(value, np.ndarray))
        return holder(name, values)

    def counting_pack(*args):
        packed.append(pack(*args))
        return packed[-1]

    monkeypatch.setattr(dask_cluster, "_SharedObjects", counting_shared_objects)
    monkeypatch.setattr(dask_cluster, "_pack", counting_pack)
    with parallel.cluster(address):
        fitted(table, options={**LINEAR, "n_chains": 6})
    n_bytes = table.to_numpy().nbytes
    assert len(packed) >= 2 + 6 + 6  # starts, pilot, chains
    assert [size for size in sent if size >= n_bytes] == [n_bytes]
    assert max(map(len, packed)) < n_bytes / 4


def test_refits_run_on_the_cluster_and_their_fits_stay_where_they_are(table, address):
    table = table.iloc[:, :3]
    estimator = md.MomentDAG(n_draws=50, engine_options={"family": "linear"})
    here = bootstrap(np.random.default_rng(0), estimator, table, n_refits=3)
    with parallel.cluster(address):
        there = bootstrap(np.random.default_rng(0), estimator, table, n_refits=3)
    for first, second in zip(here.posteriors, there.posteriors, strict=True):
        assert_same(first, second)


def test_what_fails_in_a_task_comes_back(address):
    with parallel.cluster(address), pytest.raises(ZeroDivisionError):
        list(parallel.run(divmod, [(1, 1), (1, 0)], 1))


def test_nobody_at_the_address():
    for wrong in ("tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1"):
        with (
            pytest.raises(ClusterError, match="No Dask scheduler answered"),
            parallel.cluster(wrong, 0.5),
        ):
            pass


def test_no_workers():
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(ClusterError, match="dask worker tcp://"),
        parallel.cluster(empty.scheduler_address, 0.5),
    ):
        pass


def test_workers_of_another_version_are_refused(address, monkeypatch):
    monkeypatch.setattr(dask_cluster, "__version__", "0.0.1")
    with (
        pytest.raises(ClusterError, match=r"Expected workers with momentdag 0\.0\.1; tcp://"),
        parallel.cluster(address),
    ):
        pass


def test_dask_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = r"^A Dask cluster needs distributed; install momentdag\[distributed\]\.$"
    with (
        pytest.raises(MissingExtraError, match=message),
        parallel.cluster("tcp://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_that_dies_ends_the_work_with_a_clear_error():
    started = subprocess.Popen(
        [sys.executable, "-c", _SCHEDULER], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert started.stdout is not None
    address = started.stdout.readline().strip()
    try:
        with parallel.cluster(address, 30):
            results = parallel.run(time.sleep, [(0.1,), *[(30,)] * 4], 1)
            assert next(results) is None
            os.kill(started.pid, signal.SIGKILL)
            with pytest.raises(ClusterError, match="Lost the connection to the Dask scheduler"):
                list(results)
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


# In a process of its own, so that it can be killed; the workers are threads of that process.
_SCHEDULER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, processes=False, dashboard_address=":0", protocol="tcp")
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""


@contextmanager
def silent_server():
    """Listen at a port, accept connections and never say a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_a_server_that_never_answers_is_given_up_and_the_program_ends():
    code = (
        "import sys, momentdag as md\n"
        "try:\n"
        "    with md.parallel.cluster(sys.argv[1], timeout=0.5): pass\n"
        "except md.errors.ClusterError as error: print(error)\n"
    )
    with silent_server() as address:
        command = [sys.executable, "-c", code, address]
        # Far more than half a second: what is tested is that it ends at all.
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "No Dask scheduler answered" in ended.stdout, ended.stderr
    assert "within 0.5 seconds" in ended.stdout


def test_tls_files_are_checked_before_anything_is_sent(tmp_path):
    file = tmp_path / "a.pem"
    file.write_text("")
    files = {"tls_ca_file": file, "tls_cert": file, "tls_key": file}
    for address, given, message in (
        ("tcp://127.0.0.1:1", files, "begins with tls://"),
        ("tls://127.0.0.1:1", {"tls_ca_file": file}, "three TLS files.*got 1"),
        ("tls://127.0.0.1:1", {**files, "tls_key": tmp_path / "none"}, "there is none at"),
    ):
        with pytest.raises(OptionError, match=message), parallel.cluster(address, **given):
            pass


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_a_cluster_with_tls_takes_only_those_it_knows(table, alone, tmp_path):
    key, cert = tmp_path / "a.key", tmp_path / "a.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=momentdag", "-keyout", key, "-out", cert),
        ],
        check=True,
        capture_output=True,
    )
    names = ("client", "scheduler", "worker")
    files = {
        f"tls_{name}_{what}": str(f) for name in names for what, f in (("cert", cert), ("key", key))
    }
    security = distributed.Security(tls_ca_file=str(cert), require_encryption=True, **files)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tls",
        security=security,
        dashboard_address=":0",
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with parallel.cluster(address, tls_ca_file=cert, tls_cert=cert, tls_key=key):
            assert_same(fitted(table), alone)
        with (
            pytest.raises(ClusterError, match="No Dask scheduler answered"),
            parallel.cluster(address.replace("tls", "tcp"), timeout=2),
        ):
            pass
