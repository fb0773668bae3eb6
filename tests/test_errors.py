import pickle

import pytest

from momentdag.errors import MomentdagError, OptionError, as_python, quote


def test_arguments_are_written_as_python_takes_them():
    arguments = {"n_draws": ..., "engine_options": {"family": "gp", "n_starts": ...}}
    assert as_python(arguments) == "n_draws=..., engine_options={'family': 'gp', 'n_starts': ...}"


def test_the_advice_of_an_error_is_in_the_words_of_the_surface():
    error = OptionError("No mechanisms.", fit_with={"engine_options": {"family": "gp"}})
    assert str(error) == "No mechanisms. Fit with engine_options={'family': 'gp'}."
    assert (
        error.text(lambda options: f"{len(options)} option") == "No mechanisms. Fit with 1 option."
    )
    assert str(OptionError("No mechanisms.")) == "No mechanisms."


def test_an_error_from_another_process_keeps_its_advice():
    error = pickle.loads(pickle.dumps(OptionError("No.", fit_with={"n_draws": 3})))
    assert isinstance(error, MomentdagError)
    assert str(error) == "No. Fit with n_draws=3."


@pytest.mark.parametrize("value", ["x" * 5000, 10**5000], ids=["text", "number"])
def test_what_is_quoted_is_short(value):
    assert len(quote(value)) <= 103
