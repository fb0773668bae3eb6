"""`check`: everything at once, and a recipe that does what it says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momentdag as md
from momentdag.errors import MomentdagError, OptionError

N = 120


def messy():
    rng = np.random.default_rng(0)
    celsius = np.round(rng.normal(20, 5, N), 1)
    return pd.DataFrame(
        {
            "id": np.arange(N),
            "dose": rng.uniform(1, 3, N),
            "arm": rng.choice(["placebo", "drug"], N),
            "when": pd.date_range("2021-03-01", periods=N),
            "site": "north",
            "celsius": celsius,
            "fahrenheit": np.round(1.8 * celsius + 32, 1),
            "code": rng.choice([1.0, 2.0, -999.0], N, p=[0.5, 0.4, 0.1]),
            "notes": [f"patient {k}" for k in range(N)],
            "blob": [[k] for k in range(N)],
        }
    )


def clean():
    return pd.DataFrame(np.random.default_rng(1).normal(size=(N, 3)), columns=["x", "y", "z"])


def test_everything_is_said_at_once():
    found = md.check(messy())
    table = found.table.set_index("column")
    assert list(table.columns) == [
        "kind", "why", "distinct", "missing", "range", "findings", "action",
    ]  # fmt: skip
    left = ["id", "site", "fahrenheit", "notes", "blob"]
    assert table.index[table["action"] == "leave out"].tolist() == left
    assert found.kept == ("dose", "arm", "when", "celsius", "code")
    assert table.loc["code", "missing"] == (messy()["code"] == -999).sum()
    assert table.loc["when", "kind"] == "time"
    for name in (*left, "code"):
        assert any(f"'{name}'" in change for change in found.changes)
    assert found.recipe.missing == "impute"
    text = found.describe()
    assert all(name in text for name in messy().columns)
    assert "the fit imputes them" in text
    assert "<table" in found._repr_html_()


def test_a_clean_table_needs_nothing():
    found = md.check(clean())
    assert found.changes == ()
    assert found.findings == ()
    assert found.recipe.missing == "auto"


def test_names_cannot_inject_html():
    found = md.check(clean().rename(columns={"x": "<script>"}))
    assert "<script>" not in found._repr_html_()


def test_statements_are_taken():
    found = md.check(
        messy(),
        kinds={"id": "continuous", "dose": "identifier"},
        drop=["when"],
        transforms={"celsius": "log"},
        missing="drop",
    )
    assert found.recipe.column("id").action == "keep"
    assert found.recipe.column("dose").action == "leave out"
    assert found.recipe.column("when").why == "Left out, as asked."
    assert found.recipe.column("celsius").transform == "log"
    assert found.n_rows_kept == (messy()["code"] != -999).sum()
    assert md.check(messy(), columns=["arm", "dose"]).kept == ("dose", "arm")
    # What was asked for is no finding.
    assert md.check(clean(), drop=["x"]).changes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"nobody": "count"}}, "kinds .*'nobody'"),
        ({"kinds": {"x": "colour"}}, "kinds among .*'colour'"),
        ({"columns": ["nobody"]}, "columns .*'nobody'"),
        ({"columns": "x"}, "list of names"),
        ({"drop": ["nobody"]}, "drop .*'nobody'"),
        ({"transforms": {"nobody": "log"}}, "transforms .*'nobody'"),
        ({"transforms": {"x": "sqrt"}}, "transforms among .*'sqrt'"),
        ({"missing": "never"}, "missing among .*'never'"),
    ],
    ids=str,
)
def test_statements_at_fault(options, message):
    with pytest.raises(OptionError, match=message):
        md.check(clean(), **options)


def test_several_running_numbers_in_no_order_are_ranks():
    rng = np.random.default_rng(0)
    one = clean().assign(rank=rng.permutation(N) + 1)
    assert md.check(one).recipe.column("rank").kind == "identifier"
    two = one.assign(other=rng.permutation(N) + 1, id=np.arange(N))
    recipe = md.check(two).recipe
    assert recipe.column("rank").action == recipe.column("other").action == "keep"
    assert recipe.column("id").action == "leave out"


def test_few_rows_and_near_formulas_are_said():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(25, 3)), columns=list("abc"))
    assert "Few rows: 25 for 3 columns" in md.check(frame).describe()
    frame["d"] = frame["a"] + frame["b"] + 1e-3 * frame["c"] ** 2
    assert "nearly a formula" in md.check(frame).describe()


def test_dependent_missing_cells_are_said():
    frame = clean()
    assert "not like the others" not in md.check(frame).describe()
    frame.loc[frame["y"] > 0.5, "x"] = np.nan
    assert "missing more often for some values of 'y'" in md.check(frame).describe()


def test_no_part_of_a_date_replaces_a_column():
    frame = clean().assign(when=pd.date_range("2020", periods=N))
    assert md.check(frame).recipe.column("when").parts == ("weekday",)
    frame["when weekday"] = np.arange(N) % 11
    assert md.check(frame).recipe.column("when").parts == ()


def test_files_are_checked(tmp_path):
    messy().drop(columns="blob").to_csv(tmp_path / "t.csv")
    found = md.check(tmp_path / "t.csv")
    assert found.kept == md.check(messy()).kept
    assert "row labels" in found.findings[0].text


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=2), st.dates(),
    st.sampled_from(["yes", "no", "1,5", -999, "2020-01-01", 1e308, -1e308, 5e-324]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_the_table_holds_it_is_prepared_or_refused(data):
    n = data.draw(st.integers(0, 40))
    columns = {}
    for k in range(data.draw(st.integers(0, 4))):
        some = data.draw(st.lists(CELLS, min_size=1, max_size=6))
        cells = [some[i % len(some)] for i in range(n)]
        if data.draw(st.booleans()):
            cells = np.random.default_rng(k).normal(size=n)
        columns[f"c{k}"] = pd.Series(cells, dtype=object)
    frame = pd.DataFrame(columns, index=range(n))
    try:
        prepared = md.table.prepare_table(frame)
    except MomentdagError:
        return
    assert prepared.dataset.n_variables >= 2
    again = md.table.prepare_table(frame, prepared.recipe)
    assert again.dataset == prepared.dataset
    assert md.Recipe.from_toml(prepared.recipe.to_toml()) == prepared.recipe
