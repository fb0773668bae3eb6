"""The examples on the documentation pages run as they stand."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Pages whose fits take more than a second of CPU time, but the first; `make test-all` runs them.
LONG = {
    *("drugs", "effects", "engel", "process", "regimes", "sachs", "scale", "screening"),
    *("stability", "tunnel", "workbench"),
}
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text("utf-8"))]


@pytest.fixture
def downloaded_light_tunnel(light_tunnel_file, shared_data, tmp_path, monkeypatch):
    """The light tunnel where `load_light_tunnel` keeps a download."""
    folder = tmp_path / "lt_interventions_standard_v1"
    folder.mkdir()
    shutil.copy(light_tunnel_file, folder / "uniform_reference.csv")
    experiments = pd.read_csv(shared_data / "light_tunnel_interventions.csv.gz")
    for name, rows in experiments.groupby("regime"):
        rows.to_csv(folder / f"uniform_{name}.csv", index=False)
    monkeypatch.setenv("MOMENTDAG_CACHE", str(tmp_path))


# Whether the draws of one edge are worth 99 or 101 independent ones may differ between machines.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] * (p.stem in LONG)) for p in PAGES],
)
def test_the_examples_of_a_page_run_one_after_the_other(page, request):
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page.read_text("utf-8"))
    if any("load_light_tunnel(" in block for block in blocks):
        request.getfixturevalue("downloaded_light_tunnel")
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def test_there_are_pages_with_examples():
    assert {"data", "knowledge", "simulators", "tunnel"} <= {page.stem for page in PAGES}
