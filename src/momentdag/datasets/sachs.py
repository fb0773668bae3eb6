"""Phosphoproteins in human T cells (Sachs et al., 2005)."""

from __future__ import annotations

from typing import Literal, get_args

import pandas as pd

from momentdag.datasets.reference import ReferenceData, read_edges, read_table, shipped_file
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph

__all__ = ["load_sachs"]

Truth = Literal["17", "20"]
Conditions = Literal["observational", "all"]


# Conditions and what the reagent acts on. An activity is not the amount that is measured.
_REAGENTS = (
    ("cd3_cd28+icam2", "", "general stimulation"),
    ("cd3_cd28+aktinhib", "akt", "inhibits its activity"),
    ("cd3_cd28+g0076", "pkc", "inhibits its activity"),
    ("cd3_cd28+psitect", "pip2", "inhibits its production"),
    ("cd3_cd28+u0126", "mek", "inhibits its activity: erk is what falls"),
    ("cd3_cd28+ly", "pip3", "inhibits pi3k, which makes it"),
    ("cd3_cd28+ly", "akt", "inhibits pi3k, which activates it"),
    ("pma", "pkc", "activates it"),
    ("b2camp", "pka", "activates it"),
)


def load_sachs(truth: Truth = "17", *, conditions: Conditions = "observational") -> ReferenceData:
    """Load single cells, 11 phosphoproteins and phospholipids, with a moment-agnostic truth.

    Parameters
    ----------
    truth : {"17", "20"}, default "17"
        "17": the validated network of bnlearn, also used by GraN-DAG. "20": the network drawn in
        the original article, as the Carnegie Mellon repository gives it. It is the first one with
        plcg -> pip3 turned into pip3 -> plcg, and with plcg -> pkc, pip2 -> pkc and pip3 -> akt
        added. Both are acyclic; they are 4 apart in SHD.

    conditions : {"observational", "all"}
        The 853 cells that saw no reagent but the usual stimulation, or all 7466 under nine
        conditions, named in ``regime``; ``targets`` then says what each reagent acts on.

    Returns
    -------
    ReferenceData
        ``data`` of shape (853, 11) or (7466, 11); ``union_graph`` with 17 or 20 edges; ``graph`` is
        None, as nobody has published which edges act on means and which on variances.

    Raises
    ------
    OptionError
        If ``truth`` is neither "17" nor "20", or ``conditions`` are others.

    Notes
    -----
    **Source.** Flow cytometry of Sachs et al., Science 308:523-529 (2005),
    doi 10.1126/science.1105809. The rows are the first 853 of the 7466 in ``cyto_full_data.csv``
    of the Python package cdt 0.6.0, with shorter, lower-case names. They equal, value by value,
    the first block of the Carnegie Mellon collection ``cmu-phil/example-causal-datasets`` and the
    file that GraN-DAG uses.

    The conditions of all cells follow from the published sizes of the nine blocks (853, 902, 911,
    723, 810, 799, 848, 913 and 707). pma and b2camp were given without anti-CD3/CD28.

    **Licence.** None is stated for the measurements. Copies are public under CC0 (Carnegie
    Mellon), MIT (GraN-DAG) and MIT or Apache-2.0 (cdt, which says both). Cite the article.

    **Beware.**

    - These cells are "observational" in the sense of the literature only: all were stimulated
      with anti-CD3/CD28. What they lack is an intervention on a particular molecule.
    - One cell, row 748 counted from 0, lies 28 standard deviations out in erk and akt (erk 2571,
      akt 3555). It lifts their correlation from 0.93 to 0.99. Take logarithms or leave it out.
    - The edge mek -> erk is in every published truth, yet simple tests find no sign of it here:
      the correlation of mek and erk is -0.01 (0.02 in logs), and that of mek with the size of the
      residual of erk, -0.13 (Spearman, p = 0.0002), becomes 0.05 (p = 0.19) without row 748 and
      is 0.04 (p = 0.24) in logs. With pka in the same regression of the log squared residual, mek
      has t = 0.3 (1.2 in logs) and pka t = 8.9 (0.7 in logs): a variance effect of pka on erk is
      seen on the raw scale only.
    - Reagents act on the activity of a molecule, not always on the amount that is measured: u0126
      inhibits mek, and it is erk that falls. Take conditions as regimes with unknown targets
      (``fit(..., regime=sachs.regime)``); to set the molecule itself in those rows is a convention
      of the literature (akt, pkc, pip2, mek, pip3 for the five inhibitors).
    - Further truths circulate. The Carnegie Mellon file had 19 edges before January 2023 (no
      pka -> raf); a book on bnlearn has a list of 20 with plcg -> pip3; cdt's has 18 and **is not
      acyclic** (pip3 -> plcg -> pip2 -> pip3). Say which one you score against.
    - A public loader (that of Differentiable DAG Sampling) pairs the columns with a graph whose
      nodes stand in another order, so that it scores against a relabelled graph: only 3 of its 18
      edges are those of the graph it was read from. Here the truth is matched by name.

    Examples
    --------
    >>> sachs = load_sachs()
    >>> sachs
    ReferenceData('sachs', 853 rows, 11 variables, 17 union edges)
    >>> bool(sachs.union_graph.loc["mek", "erk"])
    True
    """
    if truth not in get_args(Truth):
        raise OptionError(f"Expected truth, one of {get_args(Truth)}; got {truth!r}.")
    if conditions not in get_args(Conditions):
        raise OptionError(
            f"Expected conditions, one of {get_args(Conditions)}; got {conditions!r}."
        )
    regime = targets = None
    if conditions == "all":
        with shipped_file("sachs_conditions.csv.gz").open("rb") as stream:
            table = pd.read_csv(stream, compression="gzip")
        regime = table["condition"]
        data = table.drop(columns="condition").astype("float64")
        targets = pd.DataFrame(_REAGENTS, columns=["regime", "variable", "known"])
    else:
        data = read_table("sachs.csv")
    edges = read_edges(f"sachs_edges_{truth}.csv")
    return ReferenceData(
        name="sachs",
        data=data,
        regime=regime,
        targets=targets,
        union_graph=MomentGraph.from_edges(list(data.columns), mean=edges).union_frame,
        description=(
            f"Abundance of 11 phosphorylated proteins and phospholipids in {len(data)} human "
            f"T cells; moment-agnostic truth of {truth} edges."
        ),
        source=(
            f"Rows 0-{len(data) - 1} of cyto_full_data.csv in cdt 0.6.0, equal to those of "
            "cmu-phil/example-causal-datasets real/sachs"
        ),
        licence="No explicit data licence; public copies under CC0 and MIT. Cite the article.",
        citation=(
            "Sachs, Perez, Pe'er, Lauffenburger, Nolan: Causal protein-signaling networks derived "
            "from multiparameter single-cell data. Science 308:523-529, 2005. "
            "doi:10.1126/science.1105809"
        ),
    )
