"""Exporters: the learned graphs and fitted mechanisms in the formats of other programs.

`to_dowhy`, `to_pgmpy` and `to_arviz` each need the extra of the same name; the others need only the
core dependencies.
"""

from momentdag.effects.export.draws import to_arviz
from momentdag.effects.export.formulas import from_formulas, to_formulas
from momentdag.effects.export.gcm import to_dowhy
from momentdag.effects.export.graphs import (
    from_graphml,
    to_cytoscape,
    to_graphml,
    to_networkx,
    to_pgmpy,
)
from momentdag.effects.export.regression import FittedFormulas, fit_formulas
from momentdag.effects.export.text import to_dagitty, to_dot

__all__ = [
    "FittedFormulas",
    "fit_formulas",
    "from_formulas",
    "from_graphml",
    "to_arviz",
    "to_cytoscape",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_formulas",
    "to_graphml",
    "to_networkx",
    "to_pgmpy",
]
