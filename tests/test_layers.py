"""Imports go as docs/architecture.md says, and importing momentdag computes nothing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import momentdag

ROOT = Path(momentdag.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
SEE_EVERYTHING = {"__init__", "__main__", "cli"}


def allowed_imports():
    """Return what each package may import, from the table of the page."""
    allowed = {}
    for packages, imports in re.findall(r"^\| (`.*?) \| (.*?) \|$", PAGE.read_text(), re.MULTILINE):
        for package in re.findall(r"`(\w+)`", packages):
            allowed[package] = set(re.findall(r"`(\w+)`", imports))
    return allowed


ALLOWED = allowed_imports()


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


def part_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules():
    return sorted(ROOT.rglob("*.py"))


def test_the_page_names_every_package_and_no_other():
    assert ALLOWED.keys() == {part_of(path) for path in modules()} - SEE_EVERYTHING


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_a_package_imports_what_the_page_allows(part):
    imported = {
        name for path in modules() if part_of(path) == part for name in imported_parts(path)
    }
    stray = imported - ALLOWED[part] - {part}
    assert not stray, f"docs/architecture.md does not let {part} import {sorted(stray)}"


def test_nothing_imports_in_a_circle():
    order: list[str] = []
    while len(order) < len(ALLOWED):
        free = [part for part in ALLOWED if part not in order and ALLOWED[part] <= set(order)]
        assert free, f"these import each other: {sorted(ALLOWED.keys() - set(order))}"
        order += free


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
