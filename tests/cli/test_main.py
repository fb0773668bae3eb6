import subprocess
import sys

import pytest

import momentdag
from momentdag import runs
from momentdag.cli.main import Interrupted, main

COMMANDS = ("demo", "screen", "fit", "report", "query", "effects", "levers", "simulate")


def test_help_and_version(command):
    shown = command("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in shown
    assert command("--version").stdout.strip() == f"momentdag {momentdag.__version__}"


def test_the_module_is_the_program():
    shown = subprocess.run(
        [sys.executable, "-m", "momentdag", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == f"momentdag {momentdag.__version__}"


def test_help_computes_nothing():
    code = (
        "import sys\n"
        "from momentdag.cli import main\n"
        "sys.argv = ['momentdag', '--help']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "heavy = {'jax', 'numpy', 'pandas', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "Usage" in shown.stdout


def test_every_command_has_help(invoke):
    for name in COMMANDS:
        result = invoke(name, "--help")
        assert result.exit_code == 0
        assert "Usage" in result.output


def test_unknown_commands_and_options_are_refused(command, invoke):
    for arguments in (("fit", "--dance"), ("query",)):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.stderr
        assert result.stderr
    result = command("dance")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert result.stderr


def test_debug_shows_the_traceback_wherever_it_stands(invoke, tmp_path, monkeypatch, capsys):
    for result in (invoke("query", tmp_path, "a"), invoke("--debug", "query", tmp_path, "a")):
        assert result.exit_code == 2
        assert "is not a run folder" in result.stderr
    assert "Traceback" in result.stderr
    monkeypatch.setattr(sys, "argv", ["momentdag", "query", str(tmp_path), "a -> b", "--debug"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert "Traceback" in errors
    assert "is not a run folder" in errors


def test_a_fault_of_our_own_is_one_sentence_too(invoke, monkeypatch, refused):
    def broken(folder):
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(runs, "load_posterior", broken)
    refused(invoke("query", "run", "a -> b"), "RuntimeError: a wheel came off", "--debug", code=1)


@pytest.mark.parametrize(("signalled", "code"), [(KeyboardInterrupt, 130), (Interrupted, 143)])
def test_a_signal_is_no_traceback(invoke, monkeypatch, signalled, code, refused):
    def interrupted(folder):
        raise signalled

    monkeypatch.setattr(runs, "load_posterior", interrupted)
    refused(invoke("query", "run", "a -> b"), "Interrupted", code=code)


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error_message(run):
    code = (
        "import sys; from momentdag.cli import main; "
        f"sys.argv = ['momentdag', 'query', {str(run)!r}, *['dose -> response'] * 2000]; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    with process.stderr:
        errors = process.stderr.read()
    assert process.wait() == 1, errors
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors
