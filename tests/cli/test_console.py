import json

from momentdag.cli.console import as_flags, plain, print_json, print_line, print_records, say


def test_arguments_become_flags_of_fit():
    arguments = {"n_draws": 500, "n_jobs": ..., "random_state": 1, "engine": "variational"}
    assert as_flags(arguments) == "--draws 500 --jobs ... --seed 1 --engine variational"
    options = {"engine_options": {"family": "gp", "n_starts": ...}}
    assert as_flags(options) == "--option family=gp --option n_starts=..."


def test_lines_leave_out_what_is_empty_and_keep_brackets(capsys):
    print_line("dose [red]\x07", "", "is set.")
    assert capsys.readouterr().out == "dose [red]\\x07 is set.\n"


def test_control_characters_do_nothing():
    assert plain("a\x1b[31m\x07\u202e") == "a\\x1b[31m\\x07\\u202e"
    assert plain("é 日本\n") == "é 日本\n"


def test_json_is_json_whatever_is_in_it(capsys):
    print_json({"a": [float("nan"), 1.0, float("inf")], "[red]": "é" * 300, "b": {"c": None}})
    output = json.loads(capsys.readouterr().out)
    assert output == {"a": [None, 1.0, None], "[red]": "é" * 300, "b": {"c": None}}


def test_names_are_no_markup(capsys):
    print_records([{"[red]": "[bold]x[/]", "number": 1.23456, "flag": True, "none": None}])
    shown = capsys.readouterr().out
    assert "[red]" in shown
    assert "[bold]x[/]" in shown
    assert "1.235" in shown
    assert "yes" in shown


def test_a_table_without_lines_still_has_its_columns(capsys):
    print_records([], ["cause", "effect"])
    assert "cause" in capsys.readouterr().out


def test_sentences_go_to_standard_error(capsys):
    say("Expected [red] to be 3.")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "momentdag: Expected [red] to be 3.\n"
