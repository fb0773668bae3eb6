"""The posterior over pairs of mean and variance graphs: draws, provenance, queries, storage."""

from momentdag.posterior.container import Posterior
from momentdag.posterior.diagnostics import Diagnostics
from momentdag.posterior.doubt import ModelDoubt
from momentdag.posterior.provenance import Provenance

__all__ = ["Diagnostics", "ModelDoubt", "Posterior", "Provenance"]
