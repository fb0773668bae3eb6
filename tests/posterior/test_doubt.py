"""Doubt about the model: two numbers for each edge, misfit, and what is said about them."""

import numpy as np
import pytest

from momentdag.errors import GraphError, OptionError, StorageError
from momentdag.posterior import ModelDoubt, Posterior, Provenance
from momentdag.posterior.doubt import UNSURE, grade_misfit
from momentdag.posterior.doubt_text import describe_doubt, describe_searches, doubt_record
from momentdag.storage.archive import read_archive, write_archive


def example(**more):
    """Return 100 draws: a -> b (mean) in 60, b -> c (variance) in 98, and the model's numbers."""
    mean, variance = np.zeros((2, 100, 3, 3), dtype=bool)
    mean[:60, 0, 1] = True
    variance[:98, 1, 2] = True
    plain = np.zeros((3, 3, 3))
    plain[0, 0, 1] = plain[2, 0, 1] = 0.99
    plain[1, 1, 2] = plain[2, 1, 2] = 0.6
    plain[0, 2, 0] = plain[2, 2, 0] = 0.3
    options = {"n_worlds": 10} if more.pop("worlds", True) else {}
    doubt = ModelDoubt(plain, np.array([1.0, 4.5, np.nan]), **more)
    return Posterior("abc", mean, variance, Provenance("test", options), doubt=doubt)


def test_edges_are_graded_by_both_numbers():
    table = example().disagreement()
    rows = [tuple(row) for row in table.itertuples(index=False)]
    assert rows == [
        ("a", "b", "mean", 0.6, 0.99, UNSURE),
        ("b", "c", "variance", 0.98, 0.6, "sure, though open under the model"),
        ("c", "a", "mean", 0.0, 0.3, "sure, though open under the model"),
    ]
    assert len(example().disagreement(0)) == 12  # every edge of both graphs
    assert example().disagreement(0.5).empty


@pytest.mark.parametrize("least", [-0.1, 2, "0.1", True])
def test_the_least_difference_is_a_share(least):
    with pytest.raises(OptionError, match="Expected least"):
        example().disagreement(least)


def test_plain_probabilities_of_every_choice():
    posterior = example()
    for moment, expected in (
        ("mean", 0.99),
        ("variance", 0.0),
        ("either", 0.99),
        ("both", 0.0),
        ("mean_only", 0.99),
        ("variance_only", 0.0),
    ):
        table = posterior.plain_edge_probabilities(moment)
        assert table.loc["a", "b"] == pytest.approx(expected)
    with pytest.raises(GraphError, match="Expected a moment"):
        posterior.plain_edge_probabilities("median")


def test_misfit_is_sorted_and_graded():
    table = example().misfit()
    assert table["variable"].tolist() == ["b", "a", "c"]
    assert table["grade"].tolist() == ["against the model", "as the model says", "not measured"]
    assert grade_misfit(3.0) == "doubtful"


def test_without_worlds_it_is_said_so():
    plain = Posterior("ab", np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), Provenance("test"))
    for ask in (plain.plain_edge_probabilities, plain.disagreement, plain.misfit):
        with pytest.raises(OptionError, match="has no worlds of reweighted rows"):
            ask()
    assert describe_doubt(plain) == ""
    assert doubt_record(plain) is None


def test_words_name_edges_and_variables():
    text = describe_doubt(example())
    assert "1 edge is sure under the model, not sure of the model: a -> b (mean) 0.60" in text
    assert "under the model 0.99" in text
    assert "The rows of b (misfit 4.5)" in text
    assert "do not rely on directions of edges into it" in text


def test_searches_are_part_of_the_message():
    found = example(n_searched=5, n_outside=5, recent_outside=1.0).diagnostics()
    assert "5 added some, the last ones too" in found.message()
    assert "n_starts" in found.message()
    quiet = example(n_searched=3, n_outside=2).diagnostics()
    assert "2 added some, the last ones none" in quiet.message()
    assert describe_searches(example().doubt, "") == ""  # every pair was enumerated


def test_doubt_survives_copies_and_files(tmp_path):
    before = example(n_searched=4, n_outside=3, recent_outside=0.5).with_seed(7)
    before.save(tmp_path / "posterior.zip")
    after = Posterior.load(tmp_path / "posterior.zip")
    np.testing.assert_array_equal(after.doubt.plain, before.doubt.plain)
    np.testing.assert_array_equal(after.doubt.misfit, before.doubt.misfit)
    assert doubt_record(after)["world_searches"] == {
        "n_searched": 4,
        "n_outside": 3,
        "recent_outside": 0.5,
    }
    assert not after.doubt.plain.flags.writeable


def test_files_of_earlier_versions_have_no_doubt_and_forged_ones_are_refused(tmp_path):
    example().save(tmp_path / "new.zip")
    content, arrays = read_archive(tmp_path / "new.zip", "posterior", 2)
    searches = content.pop("world_searches")
    old = {name: array for name, array in arrays.items() if name not in ("plain", "misfit")}
    write_archive(tmp_path / "old.zip", "posterior", content, old, 2)
    assert Posterior.load(tmp_path / "old.zip").doubt is None
    for change, counts in (
        ({"plain": arrays["plain"] + 1}, searches),
        ({"misfit": arrays["misfit"][:2]}, searches),
        ({}, [1, 2, 0.0]),
        ({}, "none"),
    ):
        forged = {**content, "world_searches": counts}
        write_archive(tmp_path / "forged.zip", "posterior", forged, {**arrays, **change}, 2)
        with pytest.raises(StorageError):
            Posterior.load(tmp_path / "forged.zip")


def test_malformed_doubt_is_refused():
    for plain, misfit, more in (
        (np.zeros((2, 3, 3)), np.ones(3), {}),
        (np.full((3, 3, 3), 1.5), np.ones(3), {}),
        (np.zeros((3, 3, 3)), np.full(3, -1.0), {}),
        (np.zeros((3, 3, 3)), np.ones(3), {"n_outside": 2}),
    ):
        with pytest.raises(GraphError):
            ModelDoubt(plain, misfit, **more)
    doubt = ModelDoubt(np.zeros((3, 3, 3)), np.ones(3))
    with pytest.raises(GraphError, match="Expected doubt about 2 variables"):
        Posterior("ab", np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), Provenance(""), doubt=doubt)


def test_completions_are_averaged_by_their_draws():
    parts = [
        ModelDoubt(np.full((3, 2, 2), p), np.array([index, np.nan]), 3, 1, share)
        for p, index, share in ((0.0, 1.0, 1.0), (0.8, np.nan, 0.0))
    ]
    joined = ModelDoubt.average(parts, [1, 3])
    np.testing.assert_allclose(joined.plain, 0.6)
    np.testing.assert_array_equal(joined.misfit, [1.0, np.nan])
    assert (joined.n_searched, joined.n_outside, joined.recent_outside) == (6, 2, 0.25)
