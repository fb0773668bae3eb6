"""Everything that the package imports is declared, by the core or by the extra that needs it."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "momentdag"
MODULES = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]
# Modules that may import an extra at the top: nobody gets to them without `require`.
BEHIND_EXTRAS = {
    "engines/variational/": "variational",
    "baselines/dds.py": "variational",
    "parallel/dask.py": "distributed",
    "effects/export/location_scale.py": "dowhy",
}
DISTRIBUTIONS = {"distributed": "dask", "sklearn": "scikit-learn"}  # the others as imported

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def declared(requirements):
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


CORE = declared(PROJECT["dependencies"])
EXTRAS = {
    name: declared(requirements)
    for name, requirements in PROJECT["optional-dependencies"].items()
    if name not in ("all", "docs")
}


class Imports(ast.NodeVisitor):
    """Third-party packages and modules of ours that a module imports, by where it does."""

    def __init__(self):
        self.at_the_top, self.in_functions, self.for_types = set(), set(), set()
        self.required = set()
        self._current = self.at_the_top

    def _visit_within(self, node, names):
        before, self._current = self._current, names
        self.generic_visit(node)
        self._current = before

    def visit_FunctionDef(self, node):
        self._visit_within(node, self.in_functions)

    def visit_If(self, node):
        is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        self._visit_within(node, self.for_types if is_for_types else self._current)

    def visit_Import(self, node):
        self._current.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node):
        assert node.level == 0, "imports are absolute"
        self._current.add(node.module)
        if node.module.startswith("momentdag"):
            self._current.update(f"{node.module}.{alias.name}" for alias in node.names)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "require":
            [extra] = [word.value.value for word in node.keywords if word.arg == "extra"]
            self.required.update((argument.value, extra) for argument in node.args)
        self.generic_visit(node)


@cache
def imports_of(module):
    imports = Imports()
    imports.visit(ast.parse((PACKAGE / module).read_text("utf-8")))
    return imports


def distributions(names):
    packages = {name.partition(".")[0] for name in names}
    others = packages - set(sys.stdlib_module_names) - {"momentdag"}
    return {DISTRIBUTIONS.get(package, package) for package in others}


def extra_of(module):
    return next((extra for start, extra in BEHIND_EXTRAS.items() if module.startswith(start)), None)


def beyond_the_core(names):
    return distributions(names) - CORE


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_imports_is_declared(module):
    imports, extra = imports_of(module), extra_of(module)
    undeclared = beyond_the_core(imports.at_the_top) - EXTRAS.get(extra, set())
    assert not undeclared, f"{module} needs {undeclared} whenever it is imported"
    required = distributions({package for package, _ in imports.required})
    unguarded = beyond_the_core(imports.in_functions) - EXTRAS.get(extra, set()) - required
    assert not unguarded, f"{module} imports {unguarded} without `require`"
    assert beyond_the_core(imports.for_types) <= set().union(*EXTRAS.values())


def test_an_error_names_the_extra_that_brings_the_package():
    required = set().union(*(imports_of(module).required for module in MODULES))
    assert {extra for _, extra in required} == set(EXTRAS)
    for package, extra in required:
        assert distributions({package}) <= EXTRAS[extra]


def test_modules_behind_an_extra_are_imported_late():
    hidden = tuple(
        f"momentdag.{start.removesuffix('.py').strip('/').replace('/', '.')}."
        for start in BEHIND_EXTRAS
    )
    for module in MODULES:
        if extra_of(module) is None:
            names = imports_of(module).at_the_top
            early = {name for name in names if f"{name}.".startswith(hidden)}
            assert not early, f"{module} imports {early} at the top"


def test_every_core_dependency_is_imported():
    used = set().union(*(distributions(imports_of(module).at_the_top) for module in MODULES))
    assert used >= CORE


def test_all_means_all():
    [everything] = PROJECT["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", everything)) == {"momentdag", *EXTRAS}


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_each_dependency_has_a_lowest_version_which_a_job_runs(extra):
    stated = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    assert all(re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+", requirement) for requirement in stated)
