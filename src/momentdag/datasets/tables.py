"""Small classical tables in which the spread depends on a known variable."""

from __future__ import annotations

from momentdag.datasets.reference import ReferenceData, read_table
from momentdag.graph import MomentGraph

__all__ = ["load_abalone", "load_auto_mpg", "load_engel"]

_CMU = "cmu-phil/example-causal-datasets"
_UCI_LICENCE = "CC0 (collection); the UCI original is believed to be CC BY 4.0, not verified"


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

    **Licence.** Public domain, says statsmodels.

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


def load_abalone() -> ReferenceData:
    """Load 4177 abalones: age in shell rings, sizes and weights, with tiers.

    Returns
    -------
    ReferenceData
        ``data`` of shape (4177, 8): Rings, Length, Diam, Height, Whole, Shucked, Viscera, Shell.
        ``tiers``: Rings stands before every size and weight. No graph is known.

    Notes
    -----
    **Source.** ``cmu-phil/example-causal-datasets``; originally Nash et al., UCI Machine Learning
    Repository, doi 10.24432/C55C7W.

    **Licence.** CC0 for the collection. The UCI original is believed to be CC BY 4.0, which was
    not verified.

    **What to expect.** The residual spread of the weights about doubles from the lowest to the
    highest quartile of age.

    **Beware.** Age precedes sizes and weights, but those grow together: no graph among them is
    known, and weights are nearly sums of one another (Whole of Shucked, Viscera and Shell). Rings
    is a count. Two animals have Height 0, and one has 1.13, while the next has 0.515.

    Examples
    --------
    >>> load_abalone().tiers[0]
    ('Rings',)
    """
    data = read_table("abalone.csv")
    return ReferenceData(
        name="abalone",
        data=data,
        tiers=(("Rings",), tuple(name for name in data.columns if name != "Rings")),
        description="Shell rings (age), sizes and weights of 4177 abalones.",
        source=f"{_CMU}, from the UCI Machine Learning Repository",
        licence=_UCI_LICENCE,
        citation=(
            "Nash, Sellers, Talbot, Cawthorn, Ford: Abalone. UCI Machine Learning Repository. "
            "doi:10.24432/C55C7W"
        ),
    )


def load_auto_mpg() -> ReferenceData:
    """Load 392 cars: design, performance and fuel economy, with tiers.

    Returns
    -------
    ReferenceData
        ``data`` of shape (392, 8): mpg, cylinders, displacement, horsepower, weight, acceleration,
        modelyear, origin. ``tiers``: modelyear, origin and weight; then cylinders, displacement
        and horsepower; then acceleration and mpg. No graph is known.

    Notes
    -----
    **Source.** ``cmu-phil/example-causal-datasets``; originally Quinlan, UCI Machine Learning
    Repository, doi 10.24432/C5859H.

    **Licence.** CC0 for the collection. The UCI original is believed to be CC BY 4.0, which was
    not verified.

    **What to expect.** The standard deviation of mpg falls by half from light to heavy cars, and
    likewise with displacement.

    **Beware.** origin is a category (1, 2, 3) written as a number, cylinders has five values and
    modelyear thirteen: leave origin out of methods for continuous data. The tiers are plausible,
    not proven; an engineer may choose weight after the engine.

    Examples
    --------
    >>> load_auto_mpg().tiers[-1]
    ('acceleration', 'mpg')
    """
    return ReferenceData(
        name="auto_mpg",
        data=read_table("auto_mpg.csv"),
        tiers=(
            ("modelyear", "origin", "weight"),
            ("cylinders", "displacement", "horsepower"),
            ("acceleration", "mpg"),
        ),
        description="Design, performance and fuel economy of 392 cars of the years 1970 to 1982.",
        source=f"{_CMU}, from the UCI Machine Learning Repository",
        licence=_UCI_LICENCE,
        citation="Quinlan: Auto MPG. UCI Machine Learning Repository. doi:10.24432/C5859H",
    )
