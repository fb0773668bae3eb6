"""`momentdag simulate`: data with a known truth, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import JsonOption, SeedOption
from momentdag.errors import OptionError, StorageError

__all__ = ["simulate"]


def simulate(
    preset: Annotated[
        str | None,
        typer.Argument(metavar="PRESET", help="Name of the simulation; leave it out to list all."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the data and the true graphs.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=2, help="Number of rows.")] = 500,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Write simulated data whose graphs are known.

    Example: momentdag simulate sparse-5 -o made

    The folder gets data.csv, mean_graph.csv and variance_graph.csv (the row causes the column).
    """
    import numpy as np

    if preset is None:
        _list_presets(json)
        return
    if folder is None:
        raise OptionError("Expected a folder for the files; got none. Name one with --output.")
    simulation = md.simulate.preset(preset, np.random.default_rng(seed), rows)
    paths = _write(simulation, folder)
    if json:
        print_json({"preset": preset, "seed": seed, "files": [str(path) for path in paths]})
        return
    print_line(f"{simulation!r}")
    print_line(f"Files: {', '.join(str(path) for path in paths)}")
    print_line(f"Next: momentdag fit {paths[0]} -o {folder / 'run'}")


def _list_presets(json: bool) -> None:
    descriptions = md.simulate.preset_descriptions()
    if json:
        print_json({"presets": descriptions})
    else:
        print_records({"preset": name, "what": what} for name, what in descriptions.items())


def _write(simulation: md.simulate.Simulation, folder: Path) -> list[Path]:
    """Write the table, and both graphs as matrices of 0 and 1."""
    from momentdag.storage.files import write_atomically

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Could not create the folder {folder}: {error.strerror or error}. Choose another with "
            "--output."
        ) from error
    graph = simulation.graph
    tables = {
        "data.csv": simulation.data.to_csv(index=False),
        "mean_graph.csv": graph.mean_frame.astype(int).to_csv(),
        "variance_graph.csv": graph.variance_frame.astype(int).to_csv(),
    }
    return [write_atomically(folder / name, text.encode()) for name, text in tables.items()]
