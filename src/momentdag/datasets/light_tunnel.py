"""Measurements of a machine whose wiring is known: the light tunnel of the Causal Chambers."""

from __future__ import annotations

from typing import Literal, get_args

import pandas as pd

from momentdag.datasets.reference import ReferenceData, read_edges, read_table, shipped_file
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph

__all__ = ["load_light_tunnel"]

Variant = Literal["core", "full"]


def load_light_tunnel(variant: Variant = "core") -> ReferenceData:
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
        If ``variant`` is neither "core" nor "full".

    Notes
    -----
    **Source.** Causal Chambers, light tunnel Mk1, data set lt_interventions_standard_v1,
    experiment uniform_reference (Gamella, Peters and Bühlmann, Nature Machine Intelligence 2025,
    doi 10.1038/s42256-024-00964-x), taken from the copy in ``DMIRLAB-Group/CDFM``, commit 9968160.
    The moment-agnostic truth is the authors' own (package causalchamber 0.2.8, MIT), restricted to
    the variables used. The copy could not be compared with the official archive
    (md5 476664d024f88e8b7640998bb5e9ee33).

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
      on pol_k in a way no estimator should be asked for. Both edges touch angle_1 or angle_2 only:
      drop these two columns to leave them out of a score.

    **Beware.**

    - Mean and variance parents nearly coincide. The data test whether variance drivers are found,
      not whether variance-only causes are told from mean-only ones. (The chambers do have
      variance-only causes, the oversampling rates osr_*, in the authors' data sets wt_test_v1 and
      lt_test_v1, which are not shipped here.)
    - "full" breaks causal sufficiency: ir_k and vis_k of one sensor share noise (residual
      correlation 0.75 to 0.81). In "core" the largest residual correlation is 0.03.
    - The edges of l_xx in "full" are true but too weak to be seen in these data (abs(t) below 2).
    - Nearly all values are whole numbers (readings of a converter): standardise, and expect a
      warning on columns with few distinct values.

    Examples
    --------
    >>> tunnel = load_light_tunnel()
    >>> tunnel
    ReferenceData('light_tunnel_core', 10000 rows, 11 variables, 16 mean edges, 16 variance edges)
    >>> tunnel.graph.parents("current", "variance")
    ('red', 'green', 'blue')
    >>> tunnel.grades["grade"].value_counts().to_dict()
    {'strong': 12, 'weak': 2, 'unscored': 2}
    """
    if variant not in get_args(Variant):
        raise OptionError(f"Expected variant, one of {get_args(Variant)}; got {variant!r}.")
    graph, union_graph, grades = None, None, None
    evidence = _read_records("light_tunnel_moment_evidence.csv")
    if variant == "core":
        data = read_table("light_tunnel_core.csv")
        names = list(data.columns)
        grades = _read_records("light_tunnel_core_var_edges.csv").rename(
            columns={"evidence": "grade"}
        )
        graph = MomentGraph.from_edges(
            names,
            mean=read_edges("light_tunnel_core_mean_edges.csv"),
            variance=zip(grades["cause"], grades["effect"], strict=True),
        )
        used = evidence["cause"].isin(names) & evidence["effect"].isin(names)
        evidence = evidence[used].reset_index(drop=True)
    else:
        data = read_table("light_tunnel.csv")
        union_graph = MomentGraph.from_edges(
            list(data.columns), mean=read_edges("light_tunnel_edges.csv")
        ).union_frame
    return ReferenceData(
        name="light_tunnel" if variant == "full" else "light_tunnel_core",
        data=data,
        graph=graph,
        union_graph=union_graph,
        grades=grades,
        evidence=evidence,
        description=(
            "Settings and sensor readings of a light tunnel, actuators drawn independently; "
            f"variant {variant!r}."
        ),
        source=(
            "Causal Chambers, lt_interventions_standard_v1, experiment uniform_reference, from "
            "the copy in DMIRLAB-Group/CDFM @ 9968160; edges from causalchamber 0.2.8"
        ),
        licence="CC BY 4.0",
        citation=(
            "Gamella, Peters, Bühlmann: Causal chambers as a real-world physical testbed for AI "
            "methodology. Nature Machine Intelligence, 2025. doi:10.1038/s42256-024-00964-x"
        ),
    )


def _read_records(file_name: str) -> pd.DataFrame:
    with shipped_file(file_name).open("rb") as stream:
        return pd.read_csv(stream)
