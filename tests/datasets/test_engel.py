import numpy as np

from momentdag.datasets import load_engel


def test_engel_spread_of_food_expenditure_grows_with_income():
    loaded = load_engel()
    assert loaded.graph.edges("mean") == loaded.graph.edges("variance") == [("income", "foodexp")]
    income, food = loaded.data["income"], loaded.data["foodexp"]
    residual = food - np.polyval(np.polyfit(income, food, 1), income)
    richer = income > income.median()
    # The spread is 2.4 times as large among the richer half; equal spreads would give about 1.
    assert residual[richer].std() > 1.8 * residual[~richer].std()
