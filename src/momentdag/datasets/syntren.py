"""Simulated gene expression of SynTReN."""

from __future__ import annotations

import numpy as np
import pandas as pd

from momentdag.datasets.reference import ReferenceData, shipped_file
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph

__all__ = ["load_syntren"]

_N_SETS = 10


def load_syntren(i: int = 1) -> ReferenceData:
    """Load one of ten simulated gene expression data sets with a moment-agnostic truth.

    Parameters
    ----------
    i : int, default 1
        Which one, 1 to 10.

    Returns
    -------
    ReferenceData
        ``data`` of shape (500, 20), columns gene_1 to gene_20; ``union_graph`` with 19 to 34
        edges; ``graph`` is None.

    Raises
    ------
    OptionError
        If ``i`` is not a whole number from 1 to 10.

    Notes
    -----
    **Source.** Simulated with SynTReN (Van den Bulcke et al., BMC Bioinformatics 7:43, 2006) by
    the authors of GraN-DAG (Lachapelle et al., 2020), from ``data/syntren_p20.zip`` of
    ``kurowasan/GraN-DAG``. Used as a benchmark by GraN-DAG and by Differentiable DAG Sampling.

    **Licence.** MIT (that repository).

    **Beware.** Simulated, not measured. Values are strongly skewed and reach 35000: take
    logarithms first. They were rounded to single precision here. The files name no genes; the
    names are ours, in the order of the columns. The truth does not tell moments apart.

    Examples
    --------
    >>> load_syntren(1)
    ReferenceData('syntren_1', 500 rows, 20 variables, 24 union edges)
    """
    if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 1 <= i <= _N_SETS:
        raise OptionError(f"Expected i, a whole number from 1 to {_N_SETS}; got {i!r}.")
    with (
        shipped_file("syntren_p20.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
        values = archive[f"data{i}"].astype(np.float64)
        adjacency = archive[f"dag{i}"].astype(bool)
    names = [f"gene_{j}" for j in range(1, values.shape[1] + 1)]
    return ReferenceData(
        name=f"syntren_{i}",
        data=pd.DataFrame(values, columns=names),
        union_graph=MomentGraph(tuple(names), adjacency, adjacency).union_frame,
        description=f"Simulated expression of 20 genes in 500 samples, set {i} of {_N_SETS}.",
        source="kurowasan/GraN-DAG, data/syntren_p20.zip",
        licence="MIT (repository)",
        citation=(
            "Van den Bulcke et al.: SynTReN: a generator of synthetic gene expression data for "
            "design and analysis of structure learning algorithms. BMC Bioinformatics 7:43, 2006"
        ),
    )
