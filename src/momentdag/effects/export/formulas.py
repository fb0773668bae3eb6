"""Formulas for distributional regression: ``y ~ x1 + x2; sigma ~ x5``.

One line for each variable, in causal order: the causes of the mean, then those of the scale. The
two halves are the formulas that gamlss, mgcv (``gaulss``), brms (``bf``) and Bambi take.

A discrete variable of a fit names its family, and its second half the parameter of it that the
causes of the spread move, both in the words of brms:

| kind     | line                                              |
| -------- | ------------------------------------------------- |
| ordered  | ``y ~ x; disc ~ z; family = cumulative``          |
| count    | ``y ~ x; shape ~ z; family = negbinomial``        |
| binary   | ``y ~ x; family = bernoulli``                     |
| category | ``y ~ x; family = categorical``                   |
"""

from __future__ import annotations

import re

from momentdag.effects.export.source import Source, read_source
from momentdag.errors import GraphError
from momentdag.graph import MomentGraph
from momentdag.table.kinds import Kind

__all__ = ["from_formulas", "to_formulas"]

# R's syntactic names: Python identifiers that may also contain dots.
_PLAIN = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9._]*\Z")
_RESERVED = re.compile(
    r"(?:if|else|repeat|while|function|for|next|break|in|TRUE|FALSE|NULL|Inf|NaN|NA|s|sigma|shape|disc)\Z"
)
_MEAN = re.compile(r"\s*~")
_SPREAD = re.compile(r"\s*;\s*(?:sigma|shape|disc)\s*~")
_FAMILY = re.compile(r"\s*;\s*family\s*=\s*[a-z]+\s*\Z")
# The family of a discrete variable, and its parameter that the causes of the spread move.
_FAMILIES: dict[Kind, tuple[str, str | None]] = {
    "ordered": ("cumulative", "disc"),
    "count": ("negbinomial", "shape"),
    "binary": ("bernoulli", None),
    "category": ("categorical", None),
}
_TERM = re.compile(r"\s*(?:s\()?(?:`((?:[^`\\]|\\.)*)`|([^\s`+;()~]+))\)?\s*")


def to_formulas(source: Source, *, smooth: bool = False) -> str:
    """Return one line ``effect ~ mean causes; sigma ~ variance causes`` for each variable.

    Discrete variables of a fit have a family of their own, see the module's docstring.

    Parameters
    ----------
    source : MomentGraph, Posterior or MomentDAG
    smooth : bool
        Write ``s(x)`` for each cause: a free function, as in mgcv, gamlss2 and brms.

    Raises
    ------
    OptionError
        If the source cannot be exported.

    Examples
    --------
    >>> graph = MomentGraph.from_edges(
    ...     ["x1", "x 2", "y"], mean=[("x1", "y"), ("x 2", "y")], variance=[("x1", "y")]
    ... )
    >>> print(to_formulas(graph))
    x1 ~ 1; sigma ~ 1
    `x 2` ~ 1; sigma ~ 1
    y ~ x1 + `x 2`; sigma ~ x1
    """
    labelled = read_source(source)
    graph = labelled.graph

    def terms(causes: tuple[str, ...]) -> str:
        quoted = [f"s({_quoted(cause)})" if smooth else _quoted(cause) for cause in causes]
        return " + ".join(quoted) or "1"

    def line(name: str) -> str:
        mean = f"{_quoted(name)} ~ {terms(graph.parents(name, 'mean'))}"
        spread = terms(graph.parents(name, "variance"))
        kind = labelled.kinds.get(name) if name in labelled.discrete else None
        if kind is None or kind not in _FAMILIES:
            return f"{mean}; sigma ~ {spread}"
        family, parameter = _FAMILIES[kind]
        second = "" if parameter is None else f"; {parameter} ~ {spread}"
        return f"{mean}{second}; family = {family}"

    return "\n".join(line(name) for name in graph.order)


def from_formulas(text: str) -> MomentGraph:
    r"""Read the pair from the text of `to_formulas`; variables keep the order of the lines.

    Raises
    ------
    GraphError
        If a line is not of that form, names an unknown variable or closes a cycle.

    Examples
    --------
    >>> from_formulas("z ~ 1; sigma ~ 1\ny ~ 1; sigma ~ z").edges("variance")
    [('z', 'y')]
    """
    names: list[str] = []
    edges: dict[str, list[tuple[str, str]]] = {"mean": [], "variance": []}
    for line in filter(str.strip, text.splitlines()):
        effect, rest = _read_term(line, 0, line)
        names.append(effect)
        family = _FAMILY.search(line)
        end = len(line) if family is None else family.start()
        for moment, listed in edges.items():
            if moment == "variance" and family is not None and not line[rest:end].strip():
                break  # a family whose mean sets its variance
            rest = _expect(_MEAN if moment == "mean" else _SPREAD, line, rest)
            while True:
                cause, rest = _read_term(line, rest, line)
                if cause != "1" or line[:rest].rstrip().endswith("`"):
                    listed.append((cause, effect))
                if not line[rest:].startswith("+"):
                    break
                rest += 1
        if line[rest:end].strip():
            raise GraphError(f"Unexpected text after the causes of the spread in {line!r}.")
    return MomentGraph.from_edges(names, **edges)


def _quoted(name: str) -> str:
    if _PLAIN.match(name) and not _RESERVED.match(name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _read_term(text: str, start: int, line: str) -> tuple[str, int]:
    match = _TERM.match(text, start)
    if match is None:
        raise GraphError(f"Expected lines like 'y ~ x1 + x2; sigma ~ x5'; got {line!r}.")
    quoted, plain = match.groups()
    name = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return name, match.end()


def _expect(pattern: re.Pattern[str], line: str, start: int) -> int:
    match = pattern.match(line, start)
    if match is None:
        raise GraphError(f"Expected lines like 'y ~ x1; sigma ~ x5'; got {line!r}.")
    return match.end()
