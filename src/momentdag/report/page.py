"""From content to one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from momentdag._version import __version__
from momentdag.report.content import ReportContent
from momentdag.report.glossary import GLOSSARY
from momentdag.report.json import dump_for_script, to_plain_values
from momentdag.report.picture import MIN_PROBABILITY

__all__ = ["render_page"]

# In this order: later scripts use earlier ones.
_SCRIPTS = (
    "start.js",
    "theme.js",
    "plots.js",
    "curves.js",
    "graph.js",
    "neighbourhood.js",
    "variable.js",
    "tables.js",
    "questions.js",
    "criticism.js",
    "responses.js",
    "maps.js",
    "whatif.js",
    "downloads.js",
    "glossary.js",
    "main.js",
)
_SECTIONS = (
    ("glance", "At a glance"),
    ("world", "Model check"),
    ("change", "What changed"),
    ("whatif", "What if"),
    ("columns", "Columns"),
    ("graphs", "Graphs"),
    ("edges", "Edges"),
    ("questions", "Paths"),
    ("screening", "Screening"),
    ("criticism", "Criticism"),
    ("convergence", "Convergence"),
    ("knowledge", "Knowledge"),
    ("assumptions", "Assumptions"),
    ("cite", "Cite"),
)
# Written out by the templates; the scripts do not need them.
_FOR_TEMPLATES = {
    "edges",
    "world",
    "change",
    "columns",
    "strongest",
    "headline",
    "doubt",
    "audit",
    "assumptions",
    "provenance",
}


def render_page(content: ReportContent) -> str:
    """Return the page.

    Templates escape everything that comes from the data; scripts and styles come with the package.
    """
    environment = Environment(
        loader=PackageLoader("momentdag.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["share"] = _share
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    values = to_plain_values(content)
    script = '"use strict";\n(() => {\n' + "".join(map(_static, _SCRIPTS)) + "})();\n"
    for_scripts = {key: value for key, value in values.items() if key not in _FOR_TEMPLATES}
    for_scripts["glossary"] = GLOSSARY
    for_scripts["first"], for_scripts["first_path"] = _opening(content)
    return environment.get_template("report.html").render(
        **values,
        version=__version__,
        engine=content.provenance["engine"],
        options=json.dumps(content.provenance["options"], indent=2),
        glossary=GLOSSARY,
        n_kept=content.draws.n_draws,
        sections=[
            (name, label)
            for name, label in _SECTIONS
            if (name != "knowledge" or content.audit is not None)
            and (name != "change" or content.change is not None)
            and (name != "world" or content.world is not None)
            and (name != "whatif" or content.whatif is not None)
        ],
        min_probability=MIN_PROBABILITY,
        css=Markup(_static("report.css")),
        script=Markup(script),
        # The browser runs these two scripts and no other, whatever a page might be made to hold.
        script_sources=Markup(f"{_source(script)} {_source(get_plotlyjs())}"),
        content_json=Markup(dump_for_script(for_scripts)),
        plotly=Markup(_packed_plotly()),
    )


def _opening(content: ReportContent) -> tuple[int, tuple[int, int]]:
    """Return the variable, and the path into it, that the page opens with."""
    edges = content.picture.edges
    strength = [0.0] * len(content.names)
    for edge in edges:
        strength[edge.effect] += edge.probability * (1.0 if edge.moment == "variance" else 0.1)
    # Variance edges count ten times as much as mean edges.
    first = max(range(len(strength)), key=strength.__getitem__)
    causes = [edge.cause for edge in edges if edge.effect == first]
    return first, (causes[-1] if causes else (first + 1) % len(strength), first)


@cache
def _packed_plotly() -> str:
    """Return plotly.js as gzip in base64: a third of its size, unpacked when first needed."""
    packed = gzip.compress(get_plotlyjs().encode("utf-8"), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def _source(script: str) -> str:
    """Return a script's hash as a content security policy names it."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _static(name: str) -> str:
    return files("momentdag.report").joinpath("static", name).read_text(encoding="utf-8")


def _share(p: float) -> str:
    """Format a probability; 0 and 1 are shown only when exact."""
    if 0 < p < 0.005:
        return "< 0.01"
    if 0.995 <= p < 1:
        return "> 0.99"
    return f"{p:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
