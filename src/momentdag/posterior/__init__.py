"""The posterior over pairs of mean and variance graphs: draws, provenance, storage."""

from momentdag.posterior.container import Posterior, Provenance

__all__ = ["Posterior", "Provenance"]
