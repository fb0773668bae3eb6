"""A page about columns with hostile names has the same elements as one with plain names."""

import json
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.report.content import gather_content
from momentdag.report.page import render_page
from momentdag.report.variables import Effort
from momentdag.report.whatif_grids import WhatIfEffort
from momentdag.table import Dataset

FEW = WhatIfEffort(
    n_outcomes=1,
    n_causes=2,
    n_nodes=3,
    n_map_nodes=3,
    n_rows=8,
    n_checks=1,
    n_check_draws=2,
    worst=9,
)
QUICK = Effort(n_draws=4, n_rows=16, what_if=FEW)
PLAIN = ("alpha", "beta", "gamma", "delta")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)> ' onclick='alert(3)",
    "</script><!-- <svg/onload=alert(4)> ]]> &amp; &lt;b&gt;",
    "{{ 7*7 }} {% raw %} ${8*8} \u202eevil\u2028 javascript:alert(5)",
)


class Parsed(HTMLParser):
    """Counts elements by name and attributes; keeps text, and scripts by id."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.values, self.scripts = Counter(), [], [], {}
        self.closed = Counter()
        self._script = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements[tag, tuple(name for name, _ in attributes)] += 1
        self.values += [value for _, value in attributes if value is not None]
        if tag == "script":
            self._script = dict(attributes).get("id", "")

    def handle_endtag(self, tag):
        self.closed[tag] += 1
        self._script = None

    def handle_comment(self, data):
        self.elements["comment", ()] += 1

    def handle_data(self, data):
        if self._script is None:
            self.text.append(data)
        else:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data


@pytest.fixture(scope="module")
def pages():
    """Return the parsed reports of one table under plain and under hostile names."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, (2, 80))
    c = np.sin(a) + np.exp(0.6 * b) * rng.normal(size=80)
    values = np.column_stack([a, b, c, c + 0.5 * rng.normal(size=80)])
    options = {"n_starts": 1, "n_kicks": 0, "n_inducing": 8, "noise": "gaussian", "n_worlds": 150}
    parsed = {}
    for names in (PLAIN, HOSTILE):
        table = pd.DataFrame(values, columns=names)
        order = [names[:2], names[1:3], names[2:]]  # few pairs are left to enumerate
        knowledge = md.Knowledge(order=order, edge_priors={(names[0], names[2]): 0.3})
        model = md.MomentDAG(
            n_draws=400, random_state=0, knowledge=knowledge, engine_options=options
        ).fit(table)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("momentdag.screening.spread._N_TREES", 3)
            content = gather_content(model, Dataset.from_table(table), names[0], knowledge, QUICK)
        parsed[names] = Parsed(render_page(content))
    return parsed


def test_no_name_makes_an_element_an_attribute_or_a_comment(pages):
    assert pages[HOSTILE].elements == pages[PLAIN].elements
    assert pages[HOSTILE].closed == pages[PLAIN].closed
    assert sum(pages[PLAIN].elements.values()) > 100  # or nothing was compared


def test_scripts_and_links_are_the_same(pages):
    one, two = pages[PLAIN].scripts, pages[HOSTILE].scripts
    assert set(one) == set(two)
    for name in set(one) - {"content"}:
        assert one[name] == two[name]  # our own code: no name is pasted into it
    assert not [value for value in pages[HOSTILE].values if value.startswith("javascript:")]


def test_names_come_back_in_text_and_in_the_embedded_content(pages):
    page = pages[HOSTILE]
    text = "".join(page.text)
    for name in HOSTILE:
        assert name in text
    assert json.loads(page.scripts["content"])["names"] == list(HOSTILE)
    assert "49" not in "".join(part for part in page.text if "{{" in part)  # no template ran
