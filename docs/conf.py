"""Sphinx configuration."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # two_graphs.py, and the studies beside the library

import two_graphs  # noqa: E402
from studies.page import write_pages  # noqa: E402
from studies.store import Store  # noqa: E402

import momentdag  # noqa: E402

project = "momentdag"
author = "The momentdag developers"
copyright = "2026, the momentdag developers"
release = momentdag.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
napoleon_google_docstring = False
autodoc_typehints = "none"
# Written by scikit-learn, with references to its own pages.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_predict_request, get_metadata_routing"
}
default_role = "literal"
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "momentdag"
html_theme_options = {"show_toc_level": 2}
# Shapes such as (n_samples, n_variables) in docstrings are words, not references.
suppress_warnings = ["ref.python"]


def draw_generated(app):
    """Draw pages and pictures from the tables of finished runs."""
    folder = HERE / "generated"
    write_pages(Store(HERE.parent / "studies" / "results"), folder)
    (folder / "two-graphs.svg").write_text(two_graphs.draw(), encoding="utf-8")


def setup(app):
    """Draw before Sphinx looks for pages."""
    app.connect("builder-inited", draw_generated)
