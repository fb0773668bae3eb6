"""The posterior over pairs of mean and variance graphs: draws, provenance, queries, storage."""

from momentdag.posterior.container import Posterior, Provenance
from momentdag.posterior.diagnostics import Diagnostics

__all__ = ["Diagnostics", "Posterior", "Provenance"]
