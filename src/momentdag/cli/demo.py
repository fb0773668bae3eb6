"""`momentdag demo`: the embedded Sachs data at a glance."""

from __future__ import annotations

import warnings

from rich.console import Console
from rich.table import Table

from momentdag.data import Dataset
from momentdag.datasets import load_sachs
from momentdag.errors import DataWarning

__all__ = ["show_sachs"]


def show_sachs(console: Console) -> None:
    """Print what the Sachs data hold, what to look out for, and the accepted network."""
    sachs = load_sachs(truth="17")
    with warnings.catch_warnings():
        # The same notes are printed below, in full.
        warnings.simplefilter("ignore", DataWarning)
        dataset = Dataset.from_table(sachs.data)
    console.print(
        f"Sachs et al. 2005: {dataset.n_samples} cells, {dataset.n_variables} proteins, "
        "general stimulation only."
    )
    table = Table("protein", "mean", "sd", "min", "median", "max", "accepted causes")
    for column in table.columns[1:-1]:
        column.justify = "right"
    causes = sachs.union_graph
    for name in dataset.names:
        values = sachs.data[name]
        parents = [] if causes is None else [c for c in causes.index if causes.loc[c, name]]
        numbers = (values.mean(), values.std(), values.min(), values.median(), values.max())
        table.add_row(name, *(f"{number:.1f}" for number in numbers), ", ".join(parents))
    console.print(table)
    for note in dataset.notes:
        console.print(f"Note: {note}", markup=False)
