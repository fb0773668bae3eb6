"""Graphs as text for programs that draw or analyse them: DOT and DAGitty."""

from __future__ import annotations

import re

from momentdag.effects.export.source import Source, read_source
from momentdag.errors import GraphError
from momentdag.graph import Selection

__all__ = ["to_dagitty", "to_dot"]

# Both moments: two parallel lines, one in each colour.
_COLOURS = {"mean": "firebrick", "variance": "royalblue", "both": "firebrick:royalblue"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def to_dot(source: Source) -> str:
    r"""Return Graphviz text: red edges act on the mean, blue ones on the variance.

    Edges have ``moment`` and, from draws, probabilities as attributes and in their label.

    Raises
    ------
    OptionError
        If the source cannot be exported.
    GraphError
        If a name cannot be written in DOT.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> print(to_dot(MomentGraph.from_edges(["a", 'say "b"'], mean=[("a", 'say "b"')])))
    digraph {
      "a";
      "say \"b\"";
      "a" -> "say \"b\"" [moment="mean", label="mean", color="firebrick"];
    }
    """
    labelled = read_source(source)
    quoted = {name: _quoted(name, "DOT") for name in labelled.graph.names}
    lines = [f"  {name};" for name in quoted.values()]
    for edge in labelled.edges():
        attributes = {"moment": edge.moment, "label": edge.label, "color": _COLOURS[edge.moment]}
        if edge.mean_probability is not None:
            attributes["mean_probability"] = repr(edge.mean_probability)
            attributes["variance_probability"] = repr(edge.variance_probability)
        shown = ", ".join(f'{key}="{value}"' for key, value in attributes.items())
        lines.append(f"  {quoted[edge.cause]} -> {quoted[edge.effect]} [{shown}];")
    return "\n".join(["digraph {", *lines, "}"])


def to_dagitty(source: Source, moment: Selection = "either", *, labels: bool = False) -> str:
    """Return DAGitty text of the selected edges, for www.dagitty.net and its R package.

    DAGitty knows one kind of edge. With ``labels=True`` each edge has the moment it acts on, and
    probabilities from draws, as its ``label``, which DAGitty keeps and ignores.

    Raises
    ------
    OptionError
        If the source cannot be exported.
    GraphError
        If a name cannot be written in DAGitty's language, or ``moment`` is none of the choices.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> print(to_dagitty(MomentGraph.from_edges(["dose", "pain"], mean=[("dose", "pain")])))
    dag {
    "dose"
    "pain"
    "dose" -> "pain"
    }
    """
    labelled = read_source(source)
    wanted = set(labelled.graph.edges(moment))
    quoted = {name: _quoted(name, "DAGitty") for name in labelled.graph.names}
    lines = list(quoted.values())
    for edge in labelled.edges():
        if (edge.cause, edge.effect) in wanted:
            label = f' [label="{edge.label}"]' if labels else ""
            lines.append(f"{quoted[edge.cause]} -> {quoted[edge.effect]}{label}")
    return "\n".join(["dag {", *lines, "}"])


def _quoted(name: str, language: str) -> str:
    # In both languages a backslash escapes a quote and is literal elsewhere, so one at the end
    # would escape the closing quote.
    reserved = name in ("graph", "node") and language == "DAGitty"
    if reserved or name.endswith("\\") or _CONTROL.search(name):
        raise GraphError(
            f"{language} cannot represent the name {name!r}. Rename the column: control characters "
            "and a backslash at the end are not allowed, nor 'graph' and 'node' in DAGitty."
        )
    return '"' + name.replace('"', '\\"') + '"'
