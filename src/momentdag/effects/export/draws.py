"""Draws as ArviZ data, for its diagnostics and plots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from momentdag.errors import OptionError, require
from momentdag.posterior import Posterior

if TYPE_CHECKING:
    from arviz import InferenceData

    from momentdag.effects.inputs import FittedEstimator

__all__ = ["to_arviz"]


def to_arviz(source: Posterior | FittedEstimator) -> InferenceData:
    """Return the draws as ArviZ ``InferenceData``.

    Group ``posterior`` holds ``mean_graph`` and ``variance_graph`` with dimensions chain, draw,
    cause, effect (0 or 1); ``sample_stats`` holds ``lp``, the log posterior, where there is one.
    Provenance is in the attributes. ArviZ needs chains of equal length: longer ones are cut, and
    the attribute ``n_left_out`` counts the draws dropped.

    Raises
    ------
    OptionError
        If the source has no draws.
    MissingExtraError
        If ArviZ is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.posterior import Provenance
    >>> none = np.zeros((100, 2, 2), dtype=bool)
    >>> posterior = Posterior("ab", none, none, Provenance("by hand"))
    >>> to_arviz(posterior).posterior.sizes["draw"]  # doctest: +SKIP
    100
    """
    if not isinstance(source, Posterior):
        if not hasattr(source, "fit"):
            raise OptionError(f"Expected a Posterior or a fitted MomentDAG; got {source!r}.")
        check_is_fitted(source, "posterior_")
        source = source.posterior_
    require("arviz", extra="arviz", purpose="Export to ArviZ")
    import arviz

    chains = np.zeros(source.n_draws, dtype=int) if source.chains is None else source.chains
    members = [np.flatnonzero(chains == chain) for chain in np.unique(chains)]
    length = min(len(member) for member in members)
    rows = np.stack([member[:length] for member in members])
    dims = ["cause", "effect"]
    groups: dict[str, Any] = {
        "posterior": {
            "mean_graph": source.mean_graphs[rows].astype(np.int8),
            "variance_graph": source.variance_graphs[rows].astype(np.int8),
        }
    }
    if source.log_posterior is not None:
        groups["sample_stats"] = {"lp": source.log_posterior[rows]}
    provenance = source.provenance.to_dict()
    attributes: dict[str, Any] = {
        key: str(value) for key, value in provenance.items() if key != "options"
    }
    attributes["options"] = json.dumps(provenance["options"])
    attributes["n_left_out"] = source.n_draws - rows.size
    data: InferenceData = arviz.from_dict(
        **groups,
        coords={dim: list(source.names) for dim in dims},
        dims={"mean_graph": dims, "variance_graph": dims},
        posterior_attrs=attributes,
    )
    return data
