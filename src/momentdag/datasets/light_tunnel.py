"""Measurements of a machine whose wiring is known: the light tunnel of the Causal Chambers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd

from momentdag.datasets.chambers import fetch
from momentdag.datasets.light_tunnel_truth import (
    CORE,
    EDGES,
    FULL,
    SENSOR_PARAMETERS,
    VARIANCE_GRADES,
    evidence,
)
from momentdag.datasets.reference import ReferenceData
from momentdag.errors import DataError, OptionError
from momentdag.graph import MomentGraph

__all__ = ["load_light_tunnel"]

Variant = Literal["core", "full"]

_DATA_SET = "lt_interventions_standard_v1"
_MD5 = "476664d024f88e8b7640998bb5e9ee33"
_FILE = "uniform_reference.csv"


def load_light_tunnel(
    variant: Variant = "core",
    *,
    regimes: Sequence[str] = (),
    path: str | os.PathLike[str] | None = None,
) -> ReferenceData:
    """Load 10000 measurements of the light tunnel with true mean and variance edges.

    Light of three colours (red, green, blue) shines through two polarisers (angles pol_1, pol_2)
    onto sensors of infrared and visible light (ir_k, vis_k); the current drawn by the light source
    (current) and the angles (angle_1, angle_2) are measured, too. Six weaker lights (l_11 to l_32)
    sit beside the sensors.

    Parameters
    ----------
    variant : {"core", "full"}, default "core"
        "core": 11 variables with one channel for each light sensor, and truth for both moments.
        "full": all 20 variables, moment-agnostic truth only.
    regimes : sequence of str
        Further experiments of the same data set, by name without ``uniform_``: "red_strong",
        "t_ir_1_strong", "v_c_strong". Their rows follow those of the reference; ``regime`` names
        the experiment of each row, "reference" for the first ones, and ``targets`` what was done.
        An actuator takes other values (red, blue, pol_1, l_xx), or a parameter of a sensor is
        changed (``t_``: exposure; v_c, v_angle_k: reference voltages).
    path : path, optional
        A local copy: the CSV file, or a folder that holds ``lt_interventions_standard_v1`` as the
        package causalchamber unpacks it. By default the data set is downloaded once through that
        package (extra ``chambers``), its checksum verified, and kept in the folder that the
        environment variable ``MOMENTDAG_CACHE`` names, or in the user's cache folder.

    Returns
    -------
    ReferenceData
        For "core" ``data`` of shape (10000, 11), ``graph`` with 16 mean edges and 16 variance
        edges, and ``grades`` of the variance edges: "strong" (12), "weak" (2), "unscored" (2).
        For "full" ``data`` of shape (10000, 20), ``union_graph`` with 39 edges, and ``graph`` is
        None. ``evidence`` holds, for each pair of actuator and sensor, the effect on the mean
        (per sd of the actuator, and the largest abs(t)) and the relative change of the absolute
        residual (likewise).

    Raises
    ------
    OptionError
        If ``variant`` is neither "core" nor "full", or an experiment acts on a variable that
        "core" lacks.
    MissingExtraError
        If the data have to be downloaded and causalchamber is not installed.
    DataError
        If they cannot be downloaded, or the local copy is not a table of the light tunnel.

    Notes
    -----
    **Source.** Causal Chambers, light tunnel Mk1, data set lt_interventions_standard_v1,
    experiment uniform_reference (Gamella, Peters and Bühlmann, Nature Machine Intelligence 2025,
    doi 10.1038/s42256-024-00964-x). The moment-agnostic truth is the authors' own (package
    causalchamber 0.2.8, MIT), restricted to the variables used. The evidence was measured on the
    copy in ``DMIRLAB-Group/CDFM``, commit 9968160, which was not compared with the archive that is
    downloaded (md5 476664d024f88e8b7640998bb5e9ee33).

    **Licence.** CC BY 4.0: name the authors and cite the article.

    **Where the variance edges come from.** They are ours, not the authors'. The experimenters drew
    all eleven actuators (colours, polarisers, l_xx) independently and uniformly, so a sensor's
    residual variance that depends on an actuator depends on it causally.

    - *strong*: red, green and blue move the residual spread of current and of every light sensor,
      by 10 to 36 % per standard deviation (t from 10 to 42). It rises over the range used here and
      falls again at high settings, as with light pulsed at a duty cycle c, variance ~ c (1 - c).
    - *weak*: pol_1 and pol_2 scale mean and spread of ir_3 together (Malus' law). Within the range
      used the effect on the spread is slight (t about 8 on the squared cosine of the difference of
      the angles); with stronger interventions it is plain.
    - *unscored*: pol_k explains 99.8 % of angle_k. The rest, less than one count of the converter,
      is backlash of the motor and depends on the direction of its last move, so its spread depends
      on pol_k in a way no estimator can be expected to find. Both edges end in angle_1 or angle_2:
      drop these two columns to leave them out of a score.

    **Beware.**

    - Mean and variance parents nearly coincide. The data test whether variance causes are found,
      not whether variance-only causes are distinguished from mean-only ones. (The chambers do have
      variance-only causes, the oversampling rates osr_*, in the authors' data sets wt_test_v1 and
      lt_test_v1.)
    - "full" breaks causal sufficiency: ir_k and vis_k of one sensor share noise (residual
      correlation 0.75 to 0.81). In "core" the largest residual correlation is 0.03.
    - The edges of l_xx in "full" are true but too weak to be seen in these data (abs(t) below 2).
    - Nearly all values are whole numbers (readings of a converter): standardise, and expect a
      warning on columns with few distinct values.

    Examples
    --------
    >>> tunnel = load_light_tunnel()  # doctest: +SKIP
    >>> tunnel  # doctest: +SKIP
    ReferenceData('light_tunnel_core', 10000 rows, 11 variables, 16 mean edges, 16 variance edges)
    >>> tunnel.graph.parents("current", "variance")  # doctest: +SKIP
    ('red', 'green', 'blue')
    >>> tunnel.grades["grade"].value_counts().to_dict()  # doctest: +SKIP
    {'strong': 12, 'weak': 2, 'unscored': 2}
    """
    if variant not in get_args(Variant):
        raise OptionError(f"Expected variant, one of {get_args(Variant)}; got {variant!r}.")
    names = CORE if variant == "core" else FULL
    data = _read(path, names, _FILE)
    targets = regime = None
    if regimes:
        targets = _targets(regimes, names)
        more = [_read(path, names, f"uniform_{name}.csv") for name in regimes]
        sizes = [len(data), *map(len, more)]
        regime = pd.Series(np.repeat(["reference", *regimes], sizes), name="regime", dtype=object)
        data = pd.concat([data, *more], ignore_index=True)
    effects = evidence()
    graph, grades = None, None
    edges = [edge for edge in EDGES if set(edge) <= set(names)]
    union = MomentGraph.from_edges(names, mean=edges)
    if variant == "core":
        grades = pd.DataFrame(VARIANCE_GRADES, columns=["cause", "effect", "grade"])
        variance = zip(grades["cause"], grades["effect"], strict=True)
        graph = MomentGraph.from_edges(names, mean=edges, variance=variance)
        measured = effects["cause"].isin(names) & effects["effect"].isin(names)
        effects = effects[measured].reset_index(drop=True)
    return ReferenceData(
        name="light_tunnel" if variant == "full" else "light_tunnel_core",
        data=data,
        graph=graph,
        union_graph=union.union_frame,
        grades=grades,
        regime=regime,
        targets=targets,
        evidence=effects,
        description=(
            "Settings and sensor readings of a light tunnel, actuators drawn independently; "
            f"variant {variant!r}."
        ),
        source=(
            "Causal Chambers, lt_interventions_standard_v1, experiment uniform_reference; edges "
            "from causalchamber 0.2.8"
        ),
        licence="CC BY 4.0",
        citation=(
            "Gamella, Peters, Bühlmann: Causal chambers as a real-world physical testbed for AI "
            "methodology. Nature Machine Intelligence, 2025. doi:10.1038/s42256-024-00964-x"
        ),
    )


def _targets(regimes: Sequence[str], names: list[str]) -> pd.DataFrame:
    """Return what each experiment changes: regime, variable, known."""
    rows = []
    for regime in regimes:
        parameter = regime.rsplit("_", 1)[0]
        variable = SENSOR_PARAMETERS.get(parameter, parameter)
        if variable not in names:
            raise OptionError(
                f"Expected experiments on variables among {names}; {regime!r} acts on "
                f"{variable!r}. The variant 'full' has all of them."
            )
        known = (
            "takes other values" if variable == parameter else f"is read with another {parameter}"
        )
        rows.append((regime, variable, known))
    return pd.DataFrame(rows, columns=["regime", "variable", "known"])


def _read(path: str | os.PathLike[str] | None, names: list[str], file_name: str) -> pd.DataFrame:
    """Return the columns ``names`` of a local copy, or of the downloaded data set."""
    if path is None:
        file = fetch(_DATA_SET, _MD5) / file_name
    else:
        file = Path(path)
        if file.is_dir():
            file = file / _DATA_SET / file_name
        elif file_name != _FILE:
            raise DataError(
                f"{file} is one experiment; further ones ({file_name}) need the folder of the data "
                f"set {_DATA_SET} as path=."
            )
    try:
        table = pd.read_csv(file)
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ValueError(f"no columns {', '.join(missing)}")
        return table[names].astype("float64")
    except (OSError, ValueError) as error:
        raise DataError(
            f"{file}: not a table of the light tunnel ({error}). Pass {file_name} of the data set "
            f"{_DATA_SET} as path=."
        ) from error
