"""Data sets with known causes.

Each loader returns a `ReferenceData`: the table, the true graph (or tiers) aligned to its columns
**by name**, and where it all comes from. Sachs and Engel are shipped with the package; the light
tunnel is downloaded once from its authors. The docstrings say what to beware of.
"""

from momentdag.datasets.engel import load_engel
from momentdag.datasets.light_tunnel import load_light_tunnel
from momentdag.datasets.reference import ReferenceData
from momentdag.datasets.sachs import load_sachs

__all__ = ["ReferenceData", "load_engel", "load_light_tunnel", "load_sachs"]
