"""Imports follow the flow data -> knowledge -> engines -> posterior -> effects -> report."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import momentdag

ROOT = Path(momentdag.__file__).parent

FOUNDATION = {"_version", "errors", "frozen", "atomic", "regular", "graph", "parallel", "seeds"}
ALLOWED = {
    "_version": set(),
    "errors": set(),
    "atomic": {"errors"},
    "frozen": set(),
    "regular": set(),
    "seeds": {"errors"},
    "parallel": {"errors", "workers"},
    "workers": {"_version", "errors"},
    "graph": {"errors", "frozen"},
    "data": FOUNDATION,
    "knowledge": FOUNDATION,
    "metrics": FOUNDATION,
    "posterior": FOUNDATION | {"knowledge"},
    "datasets": FOUNDATION,
    "simulate": FOUNDATION | {"metrics"},
    "engines": FOUNDATION | {"data", "knowledge", "posterior"},
    "progress": FOUNDATION,
    "estimator": FOUNDATION | {"progress"} | {"data", "knowledge", "posterior", "engines"},
    "effects": FOUNDATION | {"data", "knowledge", "posterior", "engines", "estimator"},
    "screening": FOUNDATION | {"data", "knowledge", "posterior", "engines", "estimator", "effects"},
    "stability": FOUNDATION | {"data", "knowledge", "posterior", "engines", "estimator"},
    "baselines": FOUNDATION | {"data", "knowledge", "posterior", "engines"},
    "runs": FOUNDATION | {"data", "knowledge", "posterior", "engines", "estimator"},
    "report": FOUNDATION
    | {"data", "knowledge", "posterior", "engines", "estimator", "effects", "screening"},
}
SEE_EVERYTHING = {"__init__", "__main__", "cli", "experiments"}


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("momentdag"):
            inside = node.module.split(".")[1:]
            yield from [inside[0]] if inside else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "momentdag" and len(parts) > 1:
                    yield parts[1]


def modules():
    return sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_part_imports_only_what_stands_before_it(path):
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if part in SEE_EVERYTHING:
        return
    assert part in ALLOWED, f"say in this test what {part!r} may import"
    stray = set(imported_parts(path)) - ALLOWED[part] - {part}
    assert not stray, f"{part} may not import {sorted(stray)}"


def test_importing_momentdag_computes_nothing():
    code = (
        "import sys, momentdag; "
        "heavy = {'jax', 'numpy', 'pandas', 'scipy', 'sklearn'} & set(sys.modules); "
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_resolves():
    for name in momentdag.__all__:
        assert getattr(momentdag, name) is not None
    with pytest.raises(AttributeError, match="surprise"):
        _ = momentdag.surprise
