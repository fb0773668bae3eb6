import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from markupsafe import escape
from sklearn.exceptions import NotFittedError

import momentdag as md
from momentdag.errors import DataError, KnowledgeError, StorageError


class Elements(HTMLParser):
    """Collects elements, and the text of scripts by id."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.scripts = [], [], {}
        self._script = None

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self._script = dict(attributes).get("id", "") if tag == "script" else None

    def handle_data(self, text):
        if self._script is not None:
            self.scripts[self._script] = text
            self._script = None


@pytest.fixture(scope="module")
def page(report):
    return report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page):
    parser = Elements()
    parser.feed(page)
    return parser


def test_names_of_columns_and_titles_stay_text(page, elements, data):
    assert "img" not in elements.tags
    assert "onerror" not in dict(elements.attributes)
    assert data.columns[2] not in page  # only escaped, in one way or the other
    assert str(escape(data.columns[2])) in page
    assert "A &lt;b&gt;test&lt;/b&gt;" in page


def test_the_embedded_content_is_what_the_fit_says(elements, fit, data):
    content = json.loads(elements.scripts["content"])
    assert content["names"] == list(data.columns)
    probabilities = {m: fit.posterior_.edge_probabilities(m) for m in ("mean", "variance")}
    assert content["picture"]["edges"]
    for edge in content["picture"]["edges"]:
        cause, effect = (data.columns[edge[end]] for end in ("cause", "effect"))
        exact = probabilities[edge["moment"]].loc[cause, effect]
        assert edge["probability"] == pytest.approx(exact, rel=1e-4)  # five digits are written
    assert content["draws"]["n_draws"] == fit.posterior_.n_draws


def test_three_sentences_stand_on_top(page):
    top = page[page.index('<dl class="headline">') : page.index("</dl>")]
    assert "Among 3 variables" in top
    assert "moves only the spread of" in top
    assert "The model reproduces" in top
    assert "Confirm it with a trial." in top or "decide what to measure" in top


def test_nothing_is_asked_of_the_network(page, elements):
    own = page.replace(elements.scripts["plotly"], "")
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", own)
    assert "url(" not in own
    assert "default-src 'none'" in page


def test_every_section_is_there_and_linked(page, elements):
    attributes = elements.attributes
    ids = {value for name, value in attributes if name == "id"}
    links = {value[1:] for name, value in attributes if name == "href" and value.startswith("#")}
    assert links <= ids
    for section in ("graphs", "edges", "questions", "screening", "criticism", "convergence"):
        assert section in ids
    assert {"knowledge", "assumptions", "cite"} <= ids
    assert "10.1145/3770855.3817708" in page


def test_the_knowledge_audit_says_what_conflicts(page):
    assert "The fit did not use these statements." in page
    assert "conflicts with the data" in page  # stress does move the spread


def test_the_file_stays_small(report):
    assert report.stat().st_size < 3_000_000


def test_a_linear_fit_has_a_report_too(linear, data, tmp_path):
    page = md.report.write_report(linear, data, tmp_path / "linear.html").read_text("utf-8")
    assert "this family has no fitted functions" in page
    assert 'id="knowledge"' not in page


def test_bad_input_is_named(fit, data, tmp_path):
    path = tmp_path / "report.html"
    with pytest.raises(NotFittedError):
        md.report.write_report(md.MomentDAG(), data, path)
    with pytest.raises(DataError, match="Expected the columns"):
        md.report.write_report(fit, data.rename(columns={"dose": "Dose"}), path)
    with pytest.raises(KnowledgeError, match="Dose"):
        md.report.write_report(fit, data, path, knowledge=md.Knowledge(roots=["Dose"]))
    assert not path.exists()


def test_rows_with_missing_cells_are_treated_as_in_the_fit(fit, data, tmp_path):
    holed = data.replace(data.iloc[0, 0], np.nan)
    page = md.report.write_report(fit, holed, tmp_path / "report.html").read_text("utf-8")
    assert "199 rows" in page  # few are missing, so their rows are left out


def test_an_unwritable_place_is_named(fit, data, tmp_path, monkeypatch):
    # Only the writing matters here.
    monkeypatch.setattr("momentdag.report.writer.gather_content", lambda *_: None)
    monkeypatch.setattr("momentdag.report.writer.render_page", lambda _: "page")
    with pytest.raises(StorageError, match="Could not write"):
        md.report.write_report(fit, data, tmp_path / "missing" / "report.html")
