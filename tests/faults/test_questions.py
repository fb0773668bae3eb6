"""What people type: questions, settings, tolerances, options."""

import numpy as np
import pytest

from momentdag.cli.inputs import parse_limits, parse_names, parse_options, parse_settings
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.language import ask

WORDS = (
    *("a", "b", "c", "'stress [%]'", '"stress [%]"', "->", "->", "~>", "~>", "and", "or", "not"),
    *("[mean]", "[variance]", "[both]", "[variance only]", "[either]", "[", "]", "(", ")", ","),
    *(
        "<-",
        "--",
        "nobody",
        "''",
        '"',
        "'",
        "\\",
        "[sideways]",
        "\0",
        "\n",
        "\u202e",
        "é",
        "\uff41",
    ),
    *("AND", "->->", "a->b", "((((", "%s", "{0}", "\x1b[2J", "\ud800", "x" * 200, "-", ">"),
)
NUMBERS = ("1", "-1e308", "1e309", "nan", "inf", "", "1,2", "0:1:3", "0:1:10001", "0:1:-1", "1:2")
NUMBERS += ("0:1:٣", "0::1", "1e-320", "٣", "1_0", "0x1", "0:1:²", "5%", "0.1sd", "-5%", "%", "sd")
NUMBERS += ("null", "[1", '{"a":1}', "=", "1=2", " ", "9" * 400, "[" * 20_000)
TARGETS = ("dose", "stress [%]", "response", "nobody", "", " ", "a=b", "\u202e", "DOSE", "x" * 300)


def sentence(rng):
    """Return a question: well formed with a few faults, or words at random."""
    if rng.random() < 0.02:
        return str(
            rng.choice(["(" * 5000, "a -> b and " * 900 + "a -> b", "not " * 3000, "x" * 10**6])
        )
    if rng.random() < 0.3:
        return " ".join(rng.choice(WORDS, int(rng.integers(0, 12))).tolist())
    parts = []
    for _ in range(int(rng.integers(1, 5))):
        cause, effect = rng.choice(["a", "b", "c", "'stress [%]'"], 2)
        arrow = rng.choice(["->", "~>"])
        moment = rng.choice(["", "[mean]", "[variance only]"])
        parts.append(f"{cause} {arrow} {effect} {moment}")
        parts.append(str(rng.choice(["and", "or", ",", "and not"])))
    text = list(" ".join(parts[:-1]))
    if rng.random() < 0.5:
        at = int(rng.integers(len(text)))
        text[at : at + int(rng.integers(2))] = str(rng.choice(WORDS))
    return "".join(text)


@pytest.fixture(scope="module")
def posterior():
    names = ("a", "b", "c", "stress [%]")
    chain = MomentGraph.from_edges(names, mean=[("a", "b")], variance=[("b", "c")])
    graphs = [chain] * 12 + [MomentGraph.from_edges(names)] * 4
    mean, variance = ([g.adjacency(m) for g in graphs] for m in ("mean", "variance"))
    return Posterior(names, mean, variance, Provenance("by hand"))


@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_hostile_questions(n, endure, is_refused, posterior):
    def prepare(rng, folder):
        text = sentence(rng)

        def use():
            answer = ask(posterior, text)
            assert 0 <= answer.probability <= 1
            assert answer.standard_error >= 0

        return lambda: is_refused(use)

    outcomes = endure("questions", range(n), prepare)
    assert outcomes["used"] > n / 10
    assert outcomes["refused"] > n / 4


def arguments(rng, run):
    """Return a command whose options make little sense."""

    def target():
        return str(rng.choice(TARGETS[:3] if rng.random() < 0.6 else TARGETS))

    def number():
        return str(rng.choice(NUMBERS))

    match int(rng.integers(4)):
        case 0:
            return ("query", run, sentence(rng).replace("a", "dose").replace("b", "response"))
        case 1:
            limits = ("--limits", f"{target()}={number()}") if rng.random() < 0.5 else ()
            aim = ("--target", target()) if rng.random() < 0.5 else ()
            return (
                "effects",
                run,
                "--worlds",
                "2",
                "--do",
                f"{target()}={number()}",
                *limits,
                *aim,
            )
        case 2:
            hold = ("--hold-mean", number()) if rng.random() < 0.5 else ()
            aims = ("--candidates", f"{target()},{target()}") if rng.random() < 0.5 else ()
            level = ("--level", number()) if rng.random() < 0.3 else ()
            return ("levers", run, "--target", target(), "--worlds", "2", *hold, *aims, *level)
        case _:
            odd = ("--seed", "--draws", "--jobs", "--log-scale", "--knowledge", "--engine", "--lie")
            option = str(rng.choice(["n_starts", "family", "noise", "thinning", "method", "x"]))
            more = ("--option", f"{option}={number()}", str(rng.choice(odd)), number())
            return ("fit", "no-such-table.csv", "-o", "nowhere", *more)


@pytest.fixture(scope="module")
def run(tmp_path_factory, is_command_refused):
    folder = tmp_path_factory.mktemp("asked")
    rng = np.random.default_rng(5)
    rows = "\n".join(",".join(map(repr, row)) for row in rng.normal(size=(40, 3)).tolist())
    (folder / "t.csv").write_text(f"dose,stress [%],response\n{rows}\n")
    options = (f"--option={text}" for text in ("n_starts=1", "n_inducing=5", "noise=gaussian"))
    run = folder / "run"
    assert not is_command_refused(
        "fit", folder / "t.csv", "-o", run, "--no-report", "--draws", "120", *options
    )
    return run


@pytest.mark.parametrize("n", [15, pytest.param(400, marks=pytest.mark.slow)])
def test_hostile_commands(n, endure, is_command_refused, run):
    def prepare(rng, folder):
        given = arguments(rng, run)
        return lambda: is_command_refused(*given)

    outcomes = endure("commands", range(n), prepare)
    assert outcomes["used"] > n / 20
    assert outcomes["refused"] > n / 4


@pytest.mark.parametrize("parse", [parse_settings, parse_limits])
def test_every_number_of_the_list_is_read_or_refused(parse, is_refused):
    said = [is_refused(lambda text=text: parse([f"name={text}"])) for text in NUMBERS]
    assert any(said)
    assert not all(said)
    parse_options([f"name={text}" for text in NUMBERS if text.strip() and "=" not in text])


def test_names_are_whatever_stands_between_commas():
    assert parse_names(" a, ,b,,") == ["a", "b"]
