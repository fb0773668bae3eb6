"""Data sets with what is known about their causes, shipped with the package.

Each loader returns a `ReferenceData`: the table, the true graph (or tiers) aligned to its columns
**by name**, and where it all comes from. The docstrings say what to beware of.
"""

from momentdag.datasets.light_tunnel import load_light_tunnel
from momentdag.datasets.reference import ReferenceData
from momentdag.datasets.sachs import load_sachs
from momentdag.datasets.syntren import load_syntren
from momentdag.datasets.tables import load_abalone, load_auto_mpg, load_engel

__all__ = [
    "ReferenceData",
    "load_abalone",
    "load_auto_mpg",
    "load_engel",
    "load_light_tunnel",
    "load_sachs",
    "load_syntren",
]
