"""Tables and sentences in notebooks hold no markup but their own."""

import pandas as pd

from momentdag.display import html

NASTY = "<script>alert(1)</script>"


def test_everything_is_escaped():
    parts = [
        html.table(pd.DataFrame({NASTY: [NASTY]}, index=[NASTY]), index=True),
        html.sentence(NASTY),
        html.fact_list({NASTY: NASTY}),
    ]
    page = html.block(NASTY, parts)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 7


def test_a_long_table_says_how_many_rows_are_left_out():
    page = html.table(pd.DataFrame({"x": range(html.MAX_ROWS + 5)}))
    assert "and 5 rows more" in page
