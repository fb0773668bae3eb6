"""Knowledge files written by someone in a hurry, or by an enemy."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag import runs

COLUMNS = ("a", "b", "c", "a b", "<script>")
KEYS = ("tiers", "order", "required", "forbidden", "roots", "sinks", "edge_priors", "strength")
KEYS += ("confidence", "forbid_within_tiers")
JUNK = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        float("nan"),
        float("inf"),
        10**400,
        "",
        "a",
        "nobody",
        "\0",
        "\x1b[1m",
    ),
    *([], [[]], {}, {"a": 1}, [None], [["a"]], ["a", ["b"]], [["a", "b", "c", "d"]], "x" * 10_000),
    *([["a", "a"]], [["a", "b", "sideways"]], [["a", 1]], [[["a"], ["b"]]]),
)


def name(rng):
    return str(rng.choice(["nobody", "A", "", "\u202e"])) if rng.random() < 0.02 else pick(rng)


def pick(rng):
    return str(rng.choice(COLUMNS))


def edge(rng):
    moment = ["mean", "variance", "both", "either"][rng.integers(4)]
    return [name(rng), name(rng), *([moment] if rng.random() < 0.5 else [])]


def statements(rng):
    """Return the content of a knowledge file, most of it well meant."""
    content = {}
    for key in rng.choice(KEYS, int(rng.integers(1, 4)), replace=False).tolist():
        many = range(int(rng.integers(1, 4)))
        match key:
            case "tiers":
                shuffled = rng.permutation(COLUMNS).tolist()
                content[key] = [shuffled[:2], shuffled[2:]]
            case "order":
                content[key] = [edge(rng)[:2] for _ in many]
            case "required" | "forbidden":
                content[key] = [edge(rng) for _ in many]
            case "roots" | "sinks":
                content[key] = [name(rng) for _ in many]
            case "edge_priors":
                content[key] = [
                    {"cause": pick(rng), "effect": pick(rng), "probability": float(rng.random())}
                    for _ in many
                ]
            case "strength":
                content[key] = str(rng.choice(["hard", "soft", "iron"]))
            case "confidence":
                content[key] = float(rng.uniform(0.4, 1.1))
            case "forbid_within_tiers":
                content[key] = bool(rng.random() < 0.5)
    if rng.random() < 0.3:
        key = str(rng.choice([*KEYS, "teirs", "", "__class__"]))
        content[key] = JUNK[rng.integers(len(JUNK))]
    return content


def as_toml(value):
    """Return a value as TOML, as far as TOML can hold it."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return (
                "{" + ", ".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in value.items()) + "}"
            )
        case list():
            return "[" + ", ".join(as_toml(entry) for entry in value) + "]"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case None:
            return "null"
    return str(value)


def tetrad(rng):
    lines = ["/knowledge", "addtemporal"]
    lines += [f"{k}{rng.choice(['', '*', '-', '*-', '!'], p=[.6, .1, .1, .1, .1])} {pick(rng)}"
              for k in range(int(rng.integers(0, 4)))]  # fmt: skip
    for section in ("forbiddirect", "requiredirect", "forbiddirect")[: int(rng.integers(4))]:
        lines += [section, f"{pick(rng)} {pick(rng)}", f"{pick(rng)} {pick(rng)}"]
    return "\n".join(lines)


def deep(rng):
    depth = int(rng.choice([100, 2_000, 200_000]))
    key, value = '"tiers": ' if (is_json := rng.random() < 0.5) else "tiers = ", "[" * depth
    value += "]" * depth if rng.random() < 0.7 else ""
    return f"{{{key}{value}}}" if is_json else key + value


def text_of(rng):
    """Return the suffix and the text of a knowledge file."""
    chance = rng.random()
    if chance < 0.05:
        return str(rng.choice([".toml", ".json"])), deep(rng)
    if chance < 0.2:
        return str(rng.choice([".txt", ".prior"])), tetrad(rng)
    content = statements(rng)
    if chance < 0.55:
        return ".json", json.dumps(content, ensure_ascii=rng.random() < 0.5)
    return ".toml", "\n".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in content.items())


def damaged(rng, content):
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(content) + 1))
        match int(rng.integers(4)):
            case 0:
                content[at:at] = rng.choice(
                    [b"\0", b"\xff", b'"', b"[", b"]", b"\n", b"=", b"1e999"]
                )
            case 1 if at < len(content):
                content[at] ^= 1 << int(rng.integers(8))
            case 2:
                del content[at:]
            case 3:
                content[at:at] = content[at : at + 30]
    return bytes(content)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "cells.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(30, len(COLUMNS))), columns=COLUMNS).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("n", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_hostile_knowledge_files(n, endure, is_refused, is_command_refused, csv):
    def fit_refused(path, run):
        arguments = ("--draws", "20", "--option", "family=linear", "--no-report", "-k", path)
        was_refused = is_command_refused("fit", csv, "-o", run, *arguments)
        if not was_refused:
            fitted = runs.load(run)
            compiled, posterior = fitted.knowledge.compile(COLUMNS), fitted.posterior_
            assert compiled.allows(posterior.mean_graphs, posterior.variance_graphs).all()
            shutil.rmtree(run)
        elif run.exists():  # this family has no variance edges, which only the engine knows
            assert "variance edge" in runs.read_info(run).message
            shutil.rmtree(run)
        return was_refused

    def prepare(rng, folder):
        suffix, text = text_of(rng)
        content = text.encode("utf-8", "surrogatepass")
        path = folder / f"lab{suffix}"
        path.write_bytes(damaged(rng, content) if rng.random() < 0.25 else content)
        through_program = rng.random() < 0.15

        def use():
            knowledge = md.Knowledge.from_file(path)
            assert knowledge.describe()
            compiled = knowledge.compile(COLUMNS)
            assert not np.isinf(compiled.log_odds_mean).any()
            assert np.isfinite(compiled.order_penalty).all()
            assert md.Knowledge.from_dict(knowledge.to_dict()) == knowledge

        def action():
            was_refused = is_refused(use)
            if through_program:
                assert fit_refused(path, folder / "run") >= was_refused
            return was_refused

        return action

    outcomes = endure("knowledge files", range(n), prepare)
    assert outcomes["used"] > n / 20
    assert outcomes["refused"] > n / 4
