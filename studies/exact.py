"""The exact posterior of linear Gaussian data, by enumeration: two to four variables."""

from __future__ import annotations

import pandas as pd

from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.sampling.exact import ExactPosterior, enumerate_posterior
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

__all__ = ["exact_posterior"]


def exact_posterior(data: pd.DataFrame) -> ExactPosterior:
    """Return every graph with its log probability; variance graphs are empty."""
    dataset = Dataset.from_table(data)
    scorer = LinearScorer(dataset.standardised)
    prior = GraphPrior(Knowledge().compile(dataset.names), with_variance_graph=False)
    return enumerate_posterior(
        lambda variable, parents: scorer.fit(variable, parents).log_evidence, prior
    )
