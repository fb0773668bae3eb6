"""The template loads as it is, and once its statements are taken in."""

import tomllib

import pytest

from momentdag import Knowledge
from momentdag.knowledge.template import write_template

NAMES = ["dose [mg]", 'say "x"', "stress", "response"]


def test_it_loads_as_it_is():
    assert Knowledge.from_dict(tomllib.loads(write_template(NAMES, "a\nb.csv"))) == Knowledge()


@pytest.mark.parametrize("key", ["tiers", "order", "required", "forbidden", "roots", "sinks"])
def test_each_statement_holds_once_it_is_taken_in(key):
    lines = write_template(NAMES).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"# {key} = "))
    while lines[start].startswith("#"):
        lines[start] = lines[start].removeprefix("# ")
        start += 1
    knowledge = Knowledge.from_dict(tomllib.loads("\n".join(lines)))
    knowledge.check(NAMES)
    assert getattr(knowledge, key)


def test_the_prior_holds_once_it_is_taken_in():
    text = write_template(NAMES)
    place = text.index("# [[edge_priors]]")
    knowledge = Knowledge.from_dict(tomllib.loads(text[:place] + text[place:].replace("# ", "")))
    assert knowledge.edge_priors == ((("dose [mg]", "response", "variance"), 0.7),)
