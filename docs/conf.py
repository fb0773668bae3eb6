"""Sphinx configuration."""

import momentdag

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
default_role = "literal"
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "momentdag"
html_theme_options = {"show_toc_level": 2}
# Shapes such as (n_samples, n_variables) in docstrings are words, not references.
suppress_warnings = ["ref.python"]
