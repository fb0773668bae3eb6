"""Results do not change by accident: fits of every method against values kept from before."""

import json

import numpy as np
import pytest

from fits import GOLDENS, METHODS, VALUES, method_version

KEPT = json.loads(VALUES.read_text(encoding="utf-8"))
SLOW = {
    "chain-answers",
    "chain-knowledge",
    "chain-large",
    "dds",
    "densities-all-rows",
    "exact-homoscedastic",
    "scores-fine",
    "screening",
    "variational",
    "variational-answers",
    "variational-lbfgs",
    "variational-published",
    "variational-relaxed",
    "worlds-orders",
}


@pytest.mark.parametrize("method", METHODS)
def test_values_are_of_the_present_version(method):
    assert KEPT["versions"][method] == method_version(method), (
        f"METHOD_VERSION of {method} was raised: renew the values with "
        "`python tests/golden/fits.py --record`."
    )


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in GOLDENS]
)
def test_results_are_those_of_the_version(name):
    golden = GOLDENS[name]
    found, kept = golden.compute(), KEPT["values"][name]
    assert found.keys() == kept.keys()
    for key, values in found.items():
        assert len(values) == len(kept[key])
        # Relative for numbers beyond one: the last digits of a log evidence of -500 are rounding.
        off = np.abs(np.subtract(values, kept[key])) / np.maximum(1, np.abs(kept[key]))
        assert np.max(off, initial=0) <= golden.tolerance, (
            f"Results of {golden.method} changed. If that is meant, renew the values with "
            "`python tests/golden/fits.py --record`, and if drawn graphs changed, first raise "
            f"METHOD_VERSION in {METHODS[golden.method]}."
        )
