"""Income and food expenditure (Engel, 1857): the textbook example of a spread that grows."""

from __future__ import annotations

from momentdag.datasets.reference import ReferenceData, read_table
from momentdag.graph import MomentGraph

__all__ = ["load_engel"]


def load_engel() -> ReferenceData:
    """Load the textbook example of heteroscedasticity: income and food expenditure.

    Returns
    -------
    ReferenceData
        ``data`` of shape (235, 2): income, foodexp, both per year in Belgian francs. ``graph``:
        income -> foodexp in the mean and in the variance.

    Notes
    -----
    **Source.** Budgets of 235 Belgian working-class households, analysed by Engel in 1857; the
    copy is that of statsmodels 0.15.0 (``datasets/engel``). Used by Koenker and Bassett,
    Econometrica 50:43-61 (1982), to show a spread that grows with income.

    **Licence.** Public domain, according to statsmodels.

    **Beware.** The truth rests on what the variables mean (and on a century of textbooks), not on
    an experiment. Three rows repeat an earlier one.

    Examples
    --------
    >>> load_engel().graph.edge_table()
        cause   effect  mean  variance
    0  income  foodexp  True      True
    """
    data = read_table("engel.csv")
    edge = [("income", "foodexp")]
    return ReferenceData(
        name="engel",
        data=data,
        graph=MomentGraph.from_edges(list(data.columns), mean=edge, variance=edge),
        description="Income and food expenditure of 235 Belgian households.",
        source="statsmodels 0.15.0, datasets/engel",
        licence="Public domain",
        citation=(
            "Koenker, Bassett: Robust tests for heteroscedasticity based on regression quantiles. "
            "Econometrica 50:43-61, 1982"
        ),
    )
