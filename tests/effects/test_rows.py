"""Rows go in and come out in the units of the file: drawn rows and predictions."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.errors import DataError, OptionError

FAST = md.effects.MonteCarlo(n_draws=20, n_rows=16)


def test_drawn_rows_have_the_moments_of_the_model(star):
    rows = star.sample(4000, do={"z": 2.0})
    assert list(rows.columns) == ["x", "z", "y"]
    assert (rows["z"] == 2.0).all()
    assert rows["y"].mean() == pytest.approx(1.0, abs=0.15)
    assert rows["y"].std() == pytest.approx(np.sqrt(4 + np.exp(2.0)), rel=0.05)


def test_equally_seeded_rows_share_their_noise(star):
    before, after = star.sample(50), star.sample(50, do={"x": md.effects.Shift(by=1.0)})
    assert (after["z"] == before["z"]).all()
    np.testing.assert_allclose(after["y"] - before["y"], 2.0)


def test_a_frame_of_settings_gives_each_row_its_own(star):
    do = pd.DataFrame({"x": [0.0, 2.0, 3.0]}, index=list("abc"))
    rows = star.sample(do=do)
    assert rows["x"].to_dict() == {"a": 0.0, "b": 2.0, "c": 3.0}
    with pytest.raises(OptionError, match="has 3 rows, and n is 4"):
        star.sample(4, do=do)
    with pytest.raises(OptionError, match="n to be a positive integer"):
        star.sample(0)


def test_rows_look_as_the_file_does(mixed_fit, mixed_data):
    rows = mixed_fit.sample(200)
    assert set(rows["machine"]) == {"M1", "M2", "M3"}
    assert set(rows["passed"]) == {"no", "yes"}
    for name in ("defects", "rating"):
        assert rows[name].dtype == np.int64
    assert rows["temperature"].mean() == pytest.approx(22, abs=0.7)


@pytest.mark.parametrize("kind", ["series", "mapping", "frame", "array"])
def test_one_row_may_be_given_in_many_ways(star, kind):
    frame = pd.DataFrame({"x": [1.0], "z": [2.0], "y": [0.0]}, index=["part 7"])
    row = {
        "series": frame.iloc[0],
        "mapping": frame.iloc[0].to_dict(),
        "frame": frame,
        "array": frame.to_numpy()[0],
    }[kind]
    table = star.predict(row, "y", monte_carlo=FAST)
    assert table["mean"].iloc[0] == pytest.approx(3.0)
    assert table["sd"].iloc[0] == pytest.approx(np.exp(1.0))
    if kind in ("series", "frame"):
        assert table.index[0] == "part 7"


def test_what_is_no_cause_may_be_absent(star):
    table = star.predict(pd.DataFrame({"x": [0.0, 1.0], "z": 0.0}), "y", monte_carlo=FAST)
    assert table["mean"].tolist() == pytest.approx([1.0, 3.0])
    with pytest.raises(DataError, match="'z' is absent"):
        star.predict({"x": 0.0}, "y", monte_carlo=FAST)


def test_predictions_of_every_kind(mixed_fit):
    rows = mixed_fit.sample(12).set_index(pd.Index(range(100, 112)))
    for target in ("thickness", "defects", "rating", "passed"):
        table = mixed_fit.predict(rows, target, monte_carlo=FAST)
        assert list(table.index) == list(range(100, 112))
        assert (table["mean_low"] <= table["mean_high"]).all()
        assert (table["sd"] > 0).all()
    shares = mixed_fit.predict(rows, "outcome", monte_carlo=FAST)
    assert list(shares) == ["outcome=keep", "outcome=rework", "outcome=scrap"]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    with pytest.raises(OptionError, match="no level 'M9'"):
        mixed_fit.predict(rows.assign(machine="M9"), "thickness")


@pytest.fixture(scope="module")
def logged():
    """Return a table with text and a positive column, fitted as its logarithm."""
    rng = np.random.default_rng(2)
    arm = rng.choice(["drug", "placebo"], 200)
    dose = np.exp(rng.normal(1, 0.5, 200) + (arm == "drug"))
    frame = pd.DataFrame({"arm": arm, "dose": dose, "y": np.log(dose) + rng.normal(size=200)})
    recipe = md.table.prepare_table(frame, transforms={"dose": "log"})
    options = {"n_starts": 1, "noise": "gaussian"}
    knowledge = md.Knowledge(tiers=[["arm"], ["dose"], ["y"]])
    model = md.MomentDAG(n_draws=50, random_state=0, engine_options=options, knowledge=knowledge)
    return model.fit(recipe), frame


# The draws of a small fit may be worth few independent ones.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_logarithms_speak_the_units_of_the_file(logged):
    model, frame = logged
    rows = model.sample(400)
    assert (rows["dose"] > 0).all()
    assert rows["dose"].median() == pytest.approx(frame["dose"].median(), rel=0.2)
    assert set(rows["arm"]) == {"drug", "placebo"}
    table = model.predict(frame.head(5), "dose", monte_carlo=FAST)
    assert (table["mean"] > 0).all()
    row = frame.iloc[0]
    doubled = model.counterfactual(row, {"dose": md.effects.Shift(times=2.0)}, monte_carlo=FAST)
    moved = doubled.to_frame().set_index("variable").loc["y", "counterfactual"] - row["y"]
    assert moved == pytest.approx(np.log(2), abs=0.25)
    answer = model.attribute_anomaly(row, "dose", monte_carlo=FAST)
    assert answer.observed == pytest.approx(row["dose"])
