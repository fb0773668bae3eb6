"""`momentdag screen`: whether there is a variance graph worth learning."""

from __future__ import annotations

from pathlib import Path

from momentdag.cli.console import console, plain, print_json
from momentdag.cli.reading import read_data, read_knowledge
from momentdag.screening import heteroscedasticity

__all__ = ["run_screen"]


def run_screen(
    path: Path,
    knowledge: Path | None,
    level: float,
    log_scale: str | None,
    seed: int,
    n_jobs: int,
    as_json: bool,
) -> None:
    """Screen a table and print what was found."""
    dataset, _ = read_data(path, log_scale)
    screening = heteroscedasticity(
        dataset,
        knowledge=read_knowledge(knowledge),
        level=level,
        n_jobs=n_jobs,
        random_state=seed,
    )
    if as_json:
        print_json(
            {
                "n_samples": dataset.n_samples,
                "level": level,
                "is_heteroscedastic": screening.is_heteroscedastic,
                "variables": list(screening.variables),
                "table": screening.to_frame().reset_index().to_dict("records"),
            }
        )
    else:
        console().print(plain(screening.describe()), markup=False)
