"""Simulated data with known mean and variance graphs: graph x mechanism x noise.

Every entry point takes a ``numpy.random.Generator`` and returns a `Simulation`. This package
shares no code with the engines: a simulator that did could not falsify them.
"""

from momentdag.simulate.adiabatic import (
    ADIABATIC_KINETICS,
    sergio_adiabatic,
    sergio_adiabatic_from_graph,
)
from momentdag.simulate.gene_network import Kinetics
from momentdag.simulate.graphs import random_moment_graph
from momentdag.simulate.hnm import (
    hnm,
    linear_anm,
    mean_variance_hnm,
    mean_variance_hnm_from_graph,
    nonlinear_anm,
)
from momentdag.simulate.presets import preset, preset_descriptions, presets
from momentdag.simulate.sergio import Integration, sergio, sergio_from_graph
from momentdag.simulate.simulation import Simulation

__all__ = [
    "ADIABATIC_KINETICS",
    "Integration",
    "Kinetics",
    "Simulation",
    "hnm",
    "linear_anm",
    "mean_variance_hnm",
    "mean_variance_hnm_from_graph",
    "nonlinear_anm",
    "preset",
    "preset_descriptions",
    "presets",
    "random_moment_graph",
    "sergio",
    "sergio_adiabatic",
    "sergio_adiabatic_from_graph",
    "sergio_from_graph",
]
