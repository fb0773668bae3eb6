from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate.missing import hide_cells


def table(n: int = 400) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "number": np.arange(n) / 2,
            "whole": np.arange(n),
            "text": ["p", "q"] * (n // 2),
            "flag": [True, False] * (n // 2),
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="h"),
        }
    )


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.8])
def test_exactly_the_share_is_hidden_and_never_a_row(share: float) -> None:
    frame = table()
    hidden = hide_cells(np.random.default_rng(0), frame, share)
    assert hidden.isna().to_numpy().sum() == round(share * 2000)
    assert not hidden.isna().all(axis=1).any()
    pd.testing.assert_frame_equal(frame, table())
    for name in frame:
        seen = hidden[name].notna()
        assert hidden.loc[seen, name].tolist() == frame.loc[seen, name].tolist()


def test_types() -> None:
    hidden = hide_cells(np.random.default_rng(1), table(), 0.3)
    assert hidden["number"].dtype == hidden["whole"].dtype == np.float64
    assert hidden["flag"].dtype == object
    assert {type(value) for value in hidden["flag"]} == {bool, type(None)}
    assert hidden["date"].dtype.kind == "M"
    untouched = hide_cells(np.random.default_rng(1), table(), 0.3, columns=["number"])
    pd.testing.assert_frame_equal(untouched.drop(columns="number"), table().drop(columns="number"))
    assert untouched["number"].isna().sum() == 120


def test_hiding_does_not_look_at_values() -> None:
    n = 20_000
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    hidden = hide_cells(rng, frame, 0.3).isna()
    for cause in frame:
        for column in frame:
            groups = frame.loc[hidden[column], cause], frame.loc[~hidden[column], cause]
            assert stats.ks_2samp(*groups).pvalue > 1e-4  # nine tests at a fixed seed
    # Equally often in each column: a share of 0.3 has a binomial sd of 0.003; five of them.
    assert (hidden.mean() - 0.3).abs().max() < 0.017


def test_missing_cells_stay_and_seeds_repeat() -> None:
    first = hide_cells(np.random.default_rng(3), table(), 0.2)
    second = hide_cells(np.random.default_rng(4), first, 0.2)
    assert (second.isna() >= first.isna()).all(axis=None)
    assert second.isna().to_numpy().sum() == 800
    assert not second.isna().all(axis=1).any()
    pd.testing.assert_frame_equal(first, hide_cells(np.random.default_rng(3), table(), 0.2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.0}, "share in"),
        ({"share": -0.1}, "share in"),
        ({"share": 0.9}, "leaves one cell in each row"),
        ({"share": 0.1, "mechanism": "by value"}, "mechanism among"),
        ({"share": 0.1, "columns": ["colour"]}, r"columns among .*got \['colour'\]"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        hide_cells(np.random.default_rng(0), table(), **options)
