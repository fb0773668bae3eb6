"""A fingerprint of the code that figures depend on, so that a changed method starts afresh."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["code_fingerprint"]

_ROOT = Path(__file__).resolve().parents[1]
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_fingerprint(modules: Iterable[str]) -> str:
    """Hash modules of momentdag and all of momentdag that they import, whatever comments say.

    The version of Python makes no difference, nor does that of momentdag.

    Examples
    --------
    >>> first = code_fingerprint(["momentdag.baselines.varsort"])
    >>> first == code_fingerprint(["momentdag.baselines.varsort"])
    True
    >>> first == code_fingerprint(["momentdag.engines.evidence.engine"])
    False
    """
    digest = hashlib.sha256()
    for path in sorted(_reached(modules)):
        digest.update(f"{path.relative_to(_ROOT).as_posix()}\n{_read(path)[0]}\n".encode())
    return digest.hexdigest()[:12]


def _reached(modules: Iterable[str]) -> set[Path]:
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = _file(waiting.pop())
        if path is not None and path not in found:
            found.add(path)
            waiting += _read(path)[1]
    return found


def _file(module: str) -> Path | None:
    """Return the file of a module, or of the one that a name was imported from.

    A package that only stands above the module does not count: what it exports besides has no
    influence. Nor do the root, which loads nothing, and the number of the version.
    """
    parts = module.split(".")[1:]
    if parts[:1] == ["_version"]:
        return None
    for k in range(len(parts), 0, -1):
        place = _ROOT.joinpath(*parts[:k])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _read(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return a file's code without docstrings and comments, and what it imports of momentdag."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # A name may be a module of its own.
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
    ours = tuple(name for name in imported if name.startswith("momentdag."))
    return _plain(tree), ours


def _plain(node: Any) -> str:
    """Write a tree down, as `ast.dump` does, but without fields that only some Pythons have.

    What newer ones add is empty in code that older ones can read.
    """
    if isinstance(node, list):
        return f"[{', '.join(map(_plain, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return (
        f"{type(node).__name__}({', '.join(f'{name}={_plain(value)}' for name, value in fields)})"
    )
