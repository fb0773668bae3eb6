"""What is known about the light tunnel: its wiring, and the effects measured in its data."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

__all__ = ["CORE", "EDGES", "FULL", "SENSOR_PARAMETERS", "VARIANCE_GRADES", "evidence"]

_COLOURS = ("red", "green", "blue")
_ACTUATORS = (*_COLOURS, "pol_1", "pol_2", "l_11", "l_12", "l_21", "l_22", "l_31", "l_32")

# ground_truth of the package causalchamber 0.2.8 (MIT), restricted to the variables used.
_PARENTS = {
    "current": _COLOURS,
    "ir_1": (*_COLOURS, "l_11", "l_12"),
    "vis_1": (*_COLOURS, "l_11", "l_12"),
    "ir_2": (*_COLOURS, "l_21", "l_22"),
    "vis_2": (*_COLOURS, "l_21", "l_22"),
    "ir_3": (*_COLOURS, "pol_1", "pol_2", "l_31", "l_32"),
    "vis_3": (*_COLOURS, "pol_1", "pol_2", "l_31", "l_32"),
    "angle_1": ("pol_1",),
    "angle_2": ("pol_2",),
}

FULL = [
    *("red", "green", "blue", "current", "pol_1", "pol_2"),
    *("ir_1", "vis_1", "ir_2", "vis_2", "ir_3", "vis_3", "angle_1", "angle_2"),
    *("l_11", "l_12", "l_21", "l_22", "l_31", "l_32"),
]
"""All variables."""

CORE = [
    *("red", "green", "blue", "pol_1", "pol_2"),
    *("current", "ir_1", "vis_2", "ir_3", "angle_1", "angle_2"),
]
"""One channel for each light sensor, and no lights beside the sensors."""

EDGES = [(cause, effect) for effect, causes in _PARENTS.items() for cause in causes]
"""The authors' moment-agnostic edges between all variables."""

SENSOR_PARAMETERS = {
    "v_c": "current",
    **{f"t_{sensor}_{k}": f"{sensor}_{k}" for sensor in ("ir", "vis") for k in (1, 2, 3)},
    **{f"diode_{sensor}_{k}": f"{sensor}_{k}" for sensor in ("ir", "vis") for k in (1, 2, 3)},
    **{f"v_angle_{k}": f"angle_{k}" for k in (1, 2)},
}
"""What a parameter of a sensor changes: its own reading and nothing else."""

VARIANCE_GRADES = [
    *((cause, e, "strong") for e in ("current", "ir_1", "vis_2", "ir_3") for cause in _COLOURS),
    ("pol_1", "ir_3", "weak"),
    ("pol_2", "ir_3", "weak"),
    ("pol_1", "angle_1", "unscored"),
    ("pol_2", "angle_2", "unscored"),
]
"""Our variance edges between the core variables: cause, effect, grade."""

# One row for each sensor in the order of _PARENTS, one column for each actuator.
_MEASURED = {
    "mean_beta_per_sd": """
  0.439  0.443  0.446 -0.003 -0.003 -0.005  0.003 -0.003  0.002  0.010 -0.015
  0.773  0.477  0.316 -0.008  0.002  0.004  0.000  0.000  0.003  0.000  0.002
  0.273  0.468  0.799 -0.006  0.001  0.004  0.002  0.002  0.003 -0.003  0.001
  0.773  0.458  0.342  0.000 -0.001  0.005  0.006  0.006  0.003  0.001  0.000
  0.259  0.431  0.824  0.001 -0.003  0.004  0.005  0.000  0.004  0.000 -0.001
  0.735  0.480  0.329 -0.047  0.051 -0.001  0.000 -0.002 -0.001  0.002  0.004
  0.250  0.455  0.785 -0.044  0.047  0.000 -0.003  0.000 -0.004  0.001  0.003
  0.000  0.000  0.000  0.999  0.000  0.000  0.001  0.000  0.001 -0.001  0.000
  0.000  0.000  0.000  0.000  0.999  0.000  0.000  0.000  0.000  0.000  0.001""",
    "mean_max_abs_t": """
   69.7   69.5   70.8    0.5    1.1    0.9    1.5    0.8    0.5    1.5    2.3
  270.3  168.0  115.2    3.0    0.8    1.3    0.6    1.0    2.6    1.5    0.9
   99.0  170.2  283.1    2.3    0.6    1.5    0.6    0.8    3.9    1.2    0.5
  266.4  164.1  123.5    0.6    0.4    1.7    2.1    2.0    1.2    1.2    0.7
   94.8  158.1  294.2    0.6    1.0    1.4    2.0    0.3    1.5    2.1    0.3
  229.9  154.3  108.0   15.5   16.8    0.2    1.3    0.6    1.6    1.1    1.4
   81.8  147.6  245.6   14.6   15.8    0.2    0.9    0.4    1.2    0.7    1.0
    1.0    1.2    1.3 2637.5    0.4    1.7    1.4    0.4    1.4    1.2    0.9
    0.2    0.5    1.2    1.6 2203.1    2.9    0.9    0.9    1.4    0.9    0.9""",
    "absres_rel_change_per_sd": """
  0.173  0.147  0.163 -0.006  0.000 -0.001  0.011  0.005 -0.003  0.008  0.007
  0.321  0.190  0.126 -0.007 -0.002 -0.011  0.003  0.005  0.017 -0.005 -0.011
  0.116  0.190  0.345 -0.013 -0.004 -0.002  0.008 -0.005  0.014 -0.009 -0.001
  0.319  0.187  0.154 -0.003 -0.005 -0.001 -0.010 -0.010  0.014  0.009 -0.007
  0.097  0.182  0.361 -0.010 -0.007  0.007  0.008  0.002  0.011  0.011  0.002
  0.317  0.194  0.138 -0.022  0.010  0.001  0.008 -0.005 -0.002  0.001  0.002
  0.106  0.179  0.338 -0.025  0.007  0.004 -0.004  0.006 -0.005  0.002  0.004
 -0.012  0.015 -0.004 -0.027 -0.005  0.009  0.002 -0.001 -0.003  0.004  0.002
 -0.001 -0.002 -0.004 -0.008 -0.005 -0.011  0.002  0.022 -0.019  0.003 -0.001""",
    "var_max_abs_t": """
   22.5   19.3   21.4    0.8    2.0    1.1    1.4    1.9    1.2    1.1    1.0
   38.7   22.8   15.6    1.7    0.2    1.4    1.5    0.6    2.2    0.6    1.7
   14.3   23.3   40.8    1.6    1.6    0.3    1.0    1.5    1.7    1.1    0.4
   36.7   22.6   18.8    0.3    0.6    0.5    1.2    1.2    1.7    2.2    0.8
   11.4   21.7   42.3    1.2    0.9    0.9    1.0    0.4    1.4    1.3    1.7
   37.9   23.6   17.1    2.7    1.3    0.3    0.9    0.8    1.4    0.3    0.4
   12.9   21.6   39.2    3.1    0.9    2.3    1.1    1.2    3.0    1.0    0.5
    1.5    1.9    2.4   22.9    0.6    1.2    0.5    0.5    0.4    0.5    1.1
    0.8    0.5    0.6    2.8   39.5    2.1    2.1    3.1    3.7    0.4    1.6""",
}


def evidence() -> pd.DataFrame:
    """Return the measured effect of each actuator on each sensor, one row for each pair.

    Columns cause, effect, edge_in_ground_truth, mean_beta_per_sd, mean_max_abs_t,
    absres_rel_change_per_sd, var_max_abs_t.

    Examples
    --------
    >>> evidence()[["cause", "effect", "mean_beta_per_sd"]].head(1)
      cause   effect  mean_beta_per_sd
    0   red  current             0.439
    """
    pairs = [(cause, effect) for effect in _PARENTS for cause in _ACTUATORS]
    table = pd.DataFrame(pairs, columns=["cause", "effect"])
    table["edge_in_ground_truth"] = [pair in EDGES for pair in pairs]
    for name, numbers in _MEASURED.items():
        table[name] = np.loadtxt(io.StringIO(numbers)).ravel()
    return table
