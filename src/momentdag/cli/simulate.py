"""`momentdag simulate`: data with a known truth, as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from momentdag.atomic import write_atomically
from momentdag.cli.console import console, print_json, print_records
from momentdag.errors import OptionError, StorageError
from momentdag.simulate import preset as simulate_preset
from momentdag.simulate import preset_descriptions

__all__ = ["list_presets", "run_simulate"]


def list_presets(as_json: bool) -> None:
    """Print every preset with its description."""
    descriptions = preset_descriptions()
    if as_json:
        print_json({"presets": descriptions})
    else:
        print_records({"preset": name, "what": what} for name, what in descriptions.items())


def run_simulate(name: str, folder: Path | None, n_samples: int, seed: int, as_json: bool) -> None:
    """Simulate a preset and write table and truth."""
    if folder is None:
        raise OptionError("Expected a folder for the files; got none. Name one with --output.")
    simulation = simulate_preset(name, np.random.default_rng(seed), n_samples)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not make the folder {folder}: {error.strerror or error}. Choose another with "
            "--output."
        ) from error
    tables = {
        "data.csv": simulation.data.to_csv(index=False),
        "mean_graph.csv": _matrix(simulation.graph.mean_frame),
        "variance_graph.csv": _matrix(simulation.graph.variance_frame),
    }
    paths = [write_atomically(folder / file, text.encode()) for file, text in tables.items()]
    if as_json:
        print_json({"preset": name, "seed": seed, "files": [str(path) for path in paths]})
        return
    out = console()
    out.print(f"{simulation!r}", markup=False)
    out.print(f"Written: {', '.join(str(path) for path in paths)}", markup=False)
    out.print(f"Next: momentdag fit {paths[0]} -o {folder / 'run'}", markup=False)


def _matrix(frame: pd.DataFrame) -> str:
    """Return a graph as CSV of 0 and 1: the row is the cause, the column the effect."""
    return str(frame.astype(int).to_csv())
