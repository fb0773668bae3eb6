"""Recipes: a value that a TOML file carries without loss, checked strictly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import DataError
from momentdag.table.kinds import KINDS
from momentdag.table.recipe import ColumnRecipe, Recipe

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = TEXTS.filter(lambda name: name.strip() != "")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def column_recipes(draw):
    kind = draw(st.sampled_from([*KINDS, "identifier"]))
    is_plain = kind in ("continuous", "ordered", "count")
    transform = draw(st.sampled_from(["none", "log"])) if is_plain else "none"
    levels = draw(st.lists(TEXTS, unique=True, max_size=4)) if transform == "none" else []
    return ColumnRecipe(
        draw(NAMES),
        "leave out" if kind == "identifier" else draw(st.sampled_from(["keep", "leave out"])),
        kind,
        transform,
        tuple(draw(st.lists(NUMBERS | TEXTS, max_size=3))),
        tuple(levels),
        tuple(draw(st.lists(TEXTS, unique=True, max_size=3))),
        tuple(draw(st.lists(st.sampled_from(["hour", "weekday", "month"]), unique=True))),
        draw(TEXTS),
        draw(TEXTS),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(column_recipes(), max_size=4, unique_by=lambda column: column.name),
    st.sampled_from(["auto", "impute", "drop", "refuse"]),
)
def test_a_recipe_comes_back_from_its_file(columns, missing):
    recipe = Recipe(tuple(columns), missing)
    assert Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[column", "recipe in TOML"),
        ("version = 2", "version 1; got 2"),
        ('missing = "never"', "missing among"),
        ("other = 1", "got 'other'"),
        ("column = 3", r"\[\[column\]\] tables"),
        ("[[column]]", "name in every"),
        ('[[column]]\nname = ""', "name of a column"),
        ("[[column]]\nname = 3", "name of a column"),
        ('[[column]]\nname = "a"\nknd = "count"', "'a': expected keys among .*'knd'"),
        ('[[column]]\nname = "a"\nkind = "colour"', "'a': expected kind among .*'colour'"),
        ('[[column]]\nname = "a"\naction = "drop"', "action among"),
        ('[[column]]\nname = "a"\ntransform = "sqrt"', "transform among"),
        ('[[column]]\nname = "a"\nlevels = "ab"', "levels as a list"),
        ('[[column]]\nname = "a"\nlevels = ["b", "b"]', "levels that differ"),
        ('[[column]]\nname = "a"\nlevels = [1]', "levels as a list of text"),
        ('[[column]]\nname = "a"\nmissing_values = [nan]', "missing_values"),
        ('[[column]]\nname = "a"\nmissing_values = [true]', "missing_values"),
        ('[[column]]\nname = "a"\nparts = ["year"]', "parts among"),
        ('[[column]]\nname = "a"\nwhy = 3', "why as text"),
        ('[[column]]\nname = "a"\nkind = "identifier"', '"leave out" for an identifier'),
        ('[[column]]\nname = "a"\nkind = "category"\ntransform = "log"', "transform of numbers"),
        ('[[column]]\nname = "a"\n[[column]]\nname = "a"', "each column once"),
    ],
    ids=str,
)
def test_malformed_recipes_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        Recipe.from_toml(text)


def test_columns_are_found_by_name():
    recipe = Recipe((ColumnRecipe("a"), ColumnRecipe("b", "leave out", why="Why not.")))
    assert recipe.column("a").action == "keep"
    assert recipe.left_out == {"b": "Why not."}
    with pytest.raises(DataError, match="does not name 'c'"):
        recipe.column("c")
