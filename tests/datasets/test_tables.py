import numpy as np

from momentdag.datasets import load_abalone, load_auto_mpg, load_engel


def test_engel_spread_of_food_expenditure_grows_with_income():
    loaded = load_engel()
    assert loaded.graph.edges("mean") == loaded.graph.edges("variance") == [("income", "foodexp")]
    income, food = loaded.data["income"], loaded.data["foodexp"]
    residual = food - np.polyval(np.polyfit(income, food, 1), income)
    richer = income > income.median()
    # The spread is 2.4 times as large among the richer half; equal spreads would give about 1.
    assert residual[richer].std() > 1.8 * residual[~richer].std()


def test_abalone_age_stands_before_sizes_and_weights():
    loaded = load_abalone()
    assert loaded.tiers == (
        ("Rings",),
        ("Length", "Diam", "Height", "Whole", "Shucked", "Viscera", "Shell"),
    )
    assert loaded.graph is None
    assert (loaded.data["Height"] == 0).sum() == 2
    assert loaded.data["Height"].nlargest(2).tolist() == [1.13, 0.515]


def test_auto_mpg_tiers_and_falling_spread():
    loaded = load_auto_mpg()
    assert loaded.tiers == (
        ("modelyear", "origin", "weight"),
        ("cylinders", "displacement", "horsepower"),
        ("acceleration", "mpg"),
    )
    weight, mpg = loaded.data["weight"], loaded.data["mpg"]
    light, heavy = weight < weight.quantile(0.25), weight > weight.quantile(0.75)
    # Documented as "falls by half".
    assert 0.4 < mpg[heavy].std() / mpg[light].std() < 0.6
