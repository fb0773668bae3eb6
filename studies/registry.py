"""Every study, by its name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from momentdag.errors import OptionError
from studies.effects import EFFECTS
from studies.honesty import HONESTY
from studies.paper_figures import FIGURES
from studies.paper_tables import TABLES
from studies.real import REAL
from studies.scale import SCALE
from studies.simulation_studies import SIMULATION_STUDIES
from studies.speed import SPEED, VARIATIONAL_SPEED
from studies.study import Study

__all__ = ["STUDIES", "find_studies"]

_IN_PAPER = (
    *("fig-sparse", "fig-sergio", "fig-dense", "table-posterior", "fig-nongaussian"),
    *("table-sachs", "table-runtime", "table-mek-erk", "fig-anm", "fig-hnm", "table-varsort"),
)
_PAPER = {**FIGURES, **TABLES}
_OTHERS = (EFFECTS, HONESTY, REAL, SPEED, VARIATIONAL_SPEED, SCALE)

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        **{name: _PAPER[name] for name in _IN_PAPER},  # in the order of the paper
        **SIMULATION_STUDIES,
        **{study.name: study for study in _OTHERS},
    }
)


def find_studies(names: list[str]) -> list[Study]:
    """Return studies by name; "all" stands for the paper's, "benchmarks" for the others."""
    groups = {
        "all": [study for study in STUDIES.values() if study.kind == "paper"],
        "benchmarks": [study for study in STUDIES.values() if study.kind == "benchmark"],
    }
    chosen: dict[str, Study] = {}
    for name in names:
        if name not in groups and name not in STUDIES:
            known = ", ".join((*groups, *STUDIES))
            raise OptionError(f"Expected studies among {known}; got {name!r}.")
        chosen |= {study.name: study for study in groups.get(name, [])}
        if name in STUDIES:
            chosen[name] = STUDIES[name]
    return list(chosen.values())
