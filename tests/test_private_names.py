"""No package uses a private name of another."""

import ast
from pathlib import Path

import pytest

import momentdag

ROOT = Path(momentdag.__file__).parent
NAMEDTUPLE = {"_replace", "_asdict", "_fields", "_make"}


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in NAMEDTUPLE


def package_of(parts):
    """Return the package of a module given by its path below momentdag.

    It is the first part of the path, and the second too for an engine, which is one folder.
    """
    in_an_engine = parts[0] == "engines" and len(parts) > 2
    return tuple(parts[: 2 if in_an_engine else 1])


def defined(tree):
    """Return the names of all functions, classes, variables and attributes that a module makes."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            # An attribute that is set on another object is no definition.
            case ast.Attribute(value=ast.Name(id="self" | "cls"), ctx=ast.Store()):
                names.add(node.attr)
    return names


def is_own(node):
    """Tell whether an expression is self, cls or super()."""
    match node:
        case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
            return True
    return False


def offences(tree, own_names, own_package):
    """Yield the line and text of every use of a private name that is not the package's own."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute() if (
                ast.unparse(node) != "os._exit"
            ):  # documented, in spite of its name
                if is_private(node.attr) and not is_own(node.value) and node.attr not in own_names:
                    yield f"line {node.lineno}: {ast.unparse(node)}"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "momentdag":
                if package_of(module.split(".")[1:] or [""]) != own_package:
                    for alias in node.names:
                        if is_private(alias.name):
                            yield f"line {node.lineno}: from {module} import {alias.name}"


def source(path):
    return ast.parse(path.read_text(encoding="utf-8"))


PATHS = sorted(ROOT.rglob("*.py"))


@pytest.fixture(scope="module")
def names_of_packages():
    names = {}
    for path in PATHS:
        package = package_of(path.relative_to(ROOT).with_suffix("").parts)
        names.setdefault(package, set()).update(defined(source(path)))
    return names


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_private_names_stay_in_their_package(path, names_of_packages):
    package = package_of(path.relative_to(ROOT).with_suffix("").parts)
    assert not list(offences(source(path), names_of_packages[package], package))


@pytest.mark.parametrize(
    ("code", "n_offences"),
    [
        ("model._units", 1),
        ("getattr(model, 'x')._units.columns", 1),
        ("from momentdag.other import _name, name", 1),
        ("from momentdag.own.part import _name", 0),
        ("self._units; cls._made; super()._built()", 0),
        ("pair._replace(a=1); Pair._fields; x.__dict__", 0),
        ("other._children", 0),
    ],
)
def test_the_search_finds_what_it_is_for(code, n_offences):
    own_names = defined(ast.parse("class A:\n def f(self): self._children = 1"))
    assert len(list(offences(ast.parse(code), own_names, ("own",)))) == n_offences
