"""A factory's table as it comes out of the plant's database, with the truth about it.

    measured_at -> temperature_c -> humidity       machine -> pressure -> defects <- thickness
    night_shift -> line_speed                      temperature_c, machine -> thickness   (mean)
                                                   line_speed             -> thickness   (variance)

The rest is what ordinary tables have besides: a running number, a constant, a rounded copy in other
units, missing cells, and one absurd reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.graph import MomentGraph
from momentdag.simulate.missing import hide_cells
from momentdag.simulate.options import FloatArray, check_count

__all__ = ["FactoryTable", "FactoryTruth", "factory"]

_MACHINES = ("M1", "M2", "M3", "M4")
_MACHINE_OFFSET = np.array([-0.06, 0.0, 0.02, 0.07])  # mm
_MACHINE_PRESSURE = np.array([5.8, 6.1, 6.0, 6.4])  # bar
_TARGET = 2.0  # mm
_MEAN_TEMPERATURE = 22.0  # °C
_MEAN_SPEED = 60.0  # m/min
_DAYS = 90
_MISSING_SHARE = 0.03
_OUTLIER_SD = 39.0


@dataclass(frozen=True, eq=False)
class FactoryTruth:
    """What is true about the table of `factory`.

    Parameters
    ----------
    graph : MomentGraph
        Over the nine columns with a mechanism; the others are named below.
    complete : DataFrame, shape (n, 12)
        The table before cells went missing and one reading went wrong.
    outlier : (int, str)
        Row and column of the wrong reading, `outlier_sd` sd above the mean of the others.

    Examples
    --------
    >>> import numpy as np
    >>> _, truth = factory(np.random.default_rng(0), n_samples=50)
    >>> truth.graph.has_edge("line_speed", "thickness", "variance")
    True
    >>> truth.graph.has_edge("line_speed", "thickness", "mean")
    False
    """

    graph: MomentGraph
    complete: pd.DataFrame
    outlier: tuple[int, str]
    outlier_sd: ClassVar[float] = _OUTLIER_SD
    identifier: ClassVar[str] = "part_id"
    constant: ClassVar[str] = "plant"
    copy: ClassVar[tuple[str, str]] = ("temperature_f", "temperature_c")
    """The copy, and the column that it is a copy of."""

    @staticmethod
    def thickness_mean(temperature_c: npt.ArrayLike, machine: npt.ArrayLike) -> FloatArray:
        """Return the mean thickness in mm at a temperature in °C and a machine."""
        offset_of = dict(zip(_MACHINES, _MACHINE_OFFSET.tolist(), strict=True))
        names = np.asarray(machine, dtype=object)
        offset = np.array([offset_of[name] for name in names.ravel()]).reshape(names.shape)
        warmer = np.asarray(temperature_c, dtype=np.float64) - _MEAN_TEMPERATURE
        mean: FloatArray = _TARGET + offset + 0.018 * warmer
        return mean

    @staticmethod
    def thickness_std(line_speed: npt.ArrayLike) -> FloatArray:
        """Return the sd of the thickness in mm at a line speed in m/min: it grows with speed."""
        faster = np.asarray(line_speed, dtype=np.float64) - _MEAN_SPEED
        std: FloatArray = 0.05 * np.exp(0.06 * faster)
        return std

    @staticmethod
    def defects_mean(thickness: npt.ArrayLike, pressure: npt.ArrayLike) -> FloatArray:
        """Return the mean number of defects: parts off their target and high pressure have more."""
        off_target = np.abs(np.asarray(thickness, dtype=np.float64) - _TARGET)
        # Bounded: a part far off has many defects, not millions.
        mean: FloatArray = np.exp(
            0.2
            + 1.8 * np.tanh(off_target / 0.15)
            + 0.9 * np.tanh(np.asarray(pressure, dtype=np.float64) - 6.1)
        )
        return mean


class FactoryTable(NamedTuple):
    """The table and the truth about it.

    Parameters
    ----------
    data : DataFrame, shape (n, 12)
    truth : FactoryTruth
    """

    data: pd.DataFrame
    truth: FactoryTruth


def factory(rng: np.random.Generator, n_samples: int = 2000) -> FactoryTable:
    """Simulate a factory's table of 12 columns, one row for each part that was measured.

    =============  ==============================================================================
    part_id        1 .. n, a running number; never missing
    measured_at    timestamps over 90 days, in working hours, increasing
    machine        text, "M1" .. "M4"
    night_shift    boolean
    plant          a constant text
    temperature_c  °C to a tenth, with a slow wave over the days
    temperature_f  the same in whole °F
    humidity       %, falls with temperature
    pressure       bar, differs between machines; one reading is 39 sd too high
    line_speed     m/min, lower at night
    thickness      mm, mean from temperature and machine, **variance from line speed only**
    defects        a count, from how far thickness is off its target, and from pressure
    =============  ==============================================================================

    Of the cells of all columns but part_id 3 % are missing completely at random; columns of whole
    numbers are floats then, and booleans objects.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_samples : int
        Rows; at least 20.

    Returns
    -------
    FactoryTable
        ``(data, truth)``.

    Raises
    ------
    OptionError
        If ``n_samples`` is not a whole number of at least 20.

    Examples
    --------
    >>> import numpy as np
    >>> data, truth = factory(np.random.default_rng(0))
    >>> data.shape, truth.graph.edges("variance")
    ((2000, 12), [('line_speed', 'thickness')])
    """
    check_count("n_samples", n_samples, 20)
    complete = _draw_parts(rng, n_samples)
    column = "pressure"
    row = int(rng.integers(n_samples))
    data = hide_cells(
        rng, complete, _MISSING_SHARE, columns=[c for c in complete if c != FactoryTruth.identifier]
    )
    others = complete[column].drop(index=row)
    # The wrong reading is in the table even if its cell had been hidden.
    data.loc[row, column] = round(others.mean() + _OUTLIER_SD * others.std(), 2)
    return FactoryTable(data, FactoryTruth(_graph(), complete, (row, column)))


def _draw_parts(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw the complete table in causal order."""
    days = np.sort(rng.uniform(0.0, _DAYS, n))
    # Parts are measured between 8 and 18 o'clock, whichever shift made them.
    hours = 8.0 + 10.0 * (days % 1.0)
    seconds = np.round(3600.0 * (24.0 * np.floor(days) + hours)).astype(np.int64)
    measured_at = pd.Timestamp("2024-03-04") + pd.to_timedelta(seconds, unit="s")
    machine = rng.integers(len(_MACHINES), size=n)
    night_shift = rng.random(n) < 0.4
    wave = 2.5 * np.sin(2 * np.pi * days / _DAYS)
    temperature_c = np.round(_MEAN_TEMPERATURE + wave + rng.normal(0.0, 2.5, n), 1)
    humidity = 48.0 - 1.4 * (temperature_c - _MEAN_TEMPERATURE) + rng.normal(0.0, 5.0, n)
    pressure = np.round(_MACHINE_PRESSURE[machine] + rng.normal(0.0, 0.4, n), 2)
    line_speed = _MEAN_SPEED + 3.0 - 6.0 * night_shift + rng.uniform(-15.0, 15.0, n)
    line_speed = np.round(line_speed, 1)
    machine_names = np.array(_MACHINES, dtype=object)[machine]
    mean = FactoryTruth.thickness_mean(temperature_c, machine_names)
    thickness = mean + FactoryTruth.thickness_std(line_speed) * rng.standard_normal(n)
    thickness = np.round(thickness, 4)
    return pd.DataFrame(
        {
            "part_id": np.arange(1, n + 1),
            "measured_at": measured_at,
            "machine": machine_names,
            "night_shift": night_shift,
            "plant": np.full(n, "Linz", dtype=object),
            "temperature_c": temperature_c,
            "temperature_f": np.round(1.8 * temperature_c + 32.0).astype(np.int64),
            "humidity": np.round(humidity, 1),
            "pressure": pressure,
            "line_speed": line_speed,
            "thickness": thickness,
            "defects": rng.poisson(FactoryTruth.defects_mean(thickness, pressure)),
        }
    )


def _graph() -> MomentGraph:
    names = (
        "measured_at",
        "machine",
        "night_shift",
        "temperature_c",
        "humidity",
        "pressure",
        "line_speed",
        "thickness",
        "defects",
    )
    return MomentGraph.from_edges(
        names,
        mean=[
            ("measured_at", "temperature_c"),
            ("temperature_c", "humidity"),
            ("machine", "pressure"),
            ("night_shift", "line_speed"),
            ("temperature_c", "thickness"),
            ("machine", "thickness"),
            ("thickness", "defects"),
            ("pressure", "defects"),
        ],
        variance=[("line_speed", "thickness")],
    )
