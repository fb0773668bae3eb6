import numpy as np
import pytest

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge
from momentdag.knowledge.tables import compile_for_table

NAMES = ("day", "dose", "y")


@pytest.mark.parametrize("strength", ["hard", "soft"])
def test_dates_are_never_effects(strength):
    stated = Knowledge(order=[("dose", "y")], strength=strength)
    compiled = compile_for_table(stated, NAMES, ("day",), {})
    assert compiled.forbidden_mean[1:, 0].all()
    assert compiled.forbidden_variance[1:, 0].all()
    assert not compiled.forbidden_mean[0].any()
    assert compiled.is_soft == (strength == "soft")
    assert not np.diag(compiled.forbidden_mean).any()


def test_without_dates_nothing_changes():
    stated = Knowledge(order=[("dose", "y")])
    compiled = compile_for_table(stated, NAMES, (), {})
    np.testing.assert_array_equal(compiled.precedes, stated.compile(NAMES).precedes)


@pytest.mark.parametrize("strength", ["hard", "soft"])
def test_what_contradicts_a_date_is_refused(strength):
    stated = Knowledge(required=[("dose", "day")], strength=strength)
    with pytest.raises(KnowledgeError, match="Columns of dates, here 'day', are never effects"):
        compile_for_table(stated, NAMES, ("day",), {})


def test_columns_that_were_left_out_are_named():
    stated = Knowledge(order=[("id", "y")])
    with pytest.raises(KnowledgeError, match=r"'id', in .*was left out of the table\. A number\."):
        compile_for_table(stated, NAMES, (), {"id": "A number."})
    with pytest.raises(KnowledgeError, match="'nobody'"):
        compile_for_table(Knowledge(roots=["nobody"]), NAMES, (), {"id": "A number."})
