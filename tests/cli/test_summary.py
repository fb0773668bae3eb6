import numpy as np
import pytest

from momentdag import Dataset, MomentDAG
from momentdag.cli.summary import draws_check, edge_records, log_scale_note, print_edges
from momentdag.engines.protocol import FitResult
from momentdag.posterior import Posterior, Provenance


@pytest.fixture
def posterior():
    mean, variance = np.zeros((2, 200, 3, 3), dtype=bool)
    mean[:100, 0, 1] = variance[:, 1, 2] = mean[:10, 0, 2] = True
    return Posterior(["a", "b", "c"], mean, variance, Provenance("by hand"))


def test_likely_edges_stand_first_and_unlikely_ones_are_left_out(posterior):
    assert edge_records(posterior) == [
        {"cause": "b", "effect": "c", "mean": 0.0, "variance": 1.0},
        {"cause": "a", "effect": "b", "mean": 0.5, "variance": 0.0},
    ]
    assert len(edge_records(posterior, least=0.01)) == 3


def test_edges_are_printed_in_words(posterior, capsys):
    records = edge_records(posterior)
    print_edges([{**record, "accepted": "yes"} for record in records])
    shown = capsys.readouterr().out
    for word in ("moves the mean", "moves the variance", "accepted", "0.50", "1.00", "-"):
        assert word in shown
    print_edges([])
    assert "moves the variance" in capsys.readouterr().out


def test_the_check_of_the_draws_speaks_in_flags():
    drawn = np.zeros((20, 2, 2), dtype=bool)
    check = draws_check(Posterior(["a", "b"], drawn, drawn, Provenance("by hand")))
    assert "only 20 draws" in check
    assert "(--draws ...)" in check
    assert "n_draws" not in check


def test_logarithms_are_recalled(posterior):
    table = np.random.default_rng(0).normal(size=(30, 3))
    for columns, note in (
        (("a", "b"), "Fitted as logarithms, shown in the units of the file: a, b."),
        ((), ""),
    ):
        observed = Dataset(table, ["a", "b", "c"]).observe(columns)
        result = FitResult(posterior, None, posterior.draw(0), observed)
        assert log_scale_note(MomentDAG().adopt(result)) == note
