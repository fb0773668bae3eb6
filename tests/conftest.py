"""How tests are shared out to processes, and data that are not ours to keep in the repository."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


# Tests of these compile programs, which one process can share and two would compile twice.
COMPILED = ("variational", "dds")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process for their fixtures, and all compiled ones in one."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "load":
        return None  # another way was asked for

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            compiled = any(word in nodeid for word in COMPILED)
            return "compiled" if compiled else nodeid.partition("::")[0]

    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder ``shared/data`` beside the checkout; without it the test is skipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs data that are not in the repository: no folder {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def light_tunnel_file(shared_data):
    return shared_data / "light_tunnel.csv"
