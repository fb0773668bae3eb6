import json

from momentdag.cli.console import plain, print_json, print_records, say


def test_control_characters_do_nothing():
    assert plain("a\x1b[31m\x07\u202e") == "a\\x1b[31m\\x07\\u202e"
    assert plain("é 日本\n") == "é 日本\n"


def test_json_is_json_whatever_is_in_it(capsys):
    print_json({"a": [float("nan"), 1.0, float("inf")], "[red]": "é" * 300, "b": {"c": None}})
    found = json.loads(capsys.readouterr().out)
    assert found == {"a": [None, 1.0, None], "[red]": "é" * 300, "b": {"c": None}}


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
