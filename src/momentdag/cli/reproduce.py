"""`momentdag reproduce` without a name: what there is."""

from __future__ import annotations

from momentdag.cli.console import console, print_records
from momentdag.experiments import EXPERIMENTS
from momentdag.experiments.methods import METHODS

__all__ = ["list_experiments"]


def list_experiments() -> None:
    """Print every experiment with what it shows, and the methods."""
    print_records(
        {"experiment": name, "what": experiment.shows} for name, experiment in EXPERIMENTS.items()
    )
    console().print(f"Methods: {', '.join(METHODS)}", markup=False)
