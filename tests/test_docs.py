"""The examples on the documentation pages run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text("utf-8"))]


# Whether the draws of one edge are worth 99 or 101 independent ones may differ between machines.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_one_after_the_other(page):
    names: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text("utf-8")):
        exec(compile(block, str(page), "exec"), names)


def test_there_are_pages_with_examples():
    assert {"data", "knowledge", "simulators", "tunnel"} <= {page.stem for page in PAGES}
