"""Simulated data with known mean and variance graphs: graph x mechanism x noise.

Every entry point takes a ``numpy.random.Generator`` and returns a `Simulation`. This package
shares no code with the engines: a simulator that did could not falsify them.
"""

from momentdag.simulate.adiabatic import (
    ADIABATIC_KINETICS,
    sergio_adiabatic,
    sergio_adiabatic_from_graph,
)
from momentdag.simulate.factory import FactoryTable, FactoryTruth, factory
from momentdag.simulate.gene_network import Kinetics
from momentdag.simulate.graphs import random_moment_graph
from momentdag.simulate.hnm import (
    hnm,
    linear_anm,
    mean_variance_hnm,
    mean_variance_hnm_from_graph,
    nonlinear_anm,
)
from momentdag.simulate.kinds import Kind
from momentdag.simulate.missing import hide_cells
from momentdag.simulate.misspecified import (
    Misspecification,
    misspecified,
    misspecified_families,
)
from momentdag.simulate.mixed import MixedSimulation, mixed, mixed_from_graph, mixed_pair
from momentdag.simulate.mixed_model import MixedOptions
from momentdag.simulate.presets import preset, preset_descriptions, presets
from momentdag.simulate.regimes import Change, RegimeSimulation, draw_changes, regimes
from momentdag.simulate.sergio import Integration, sergio, sergio_from_graph
from momentdag.simulate.simulation import Simulation

__all__ = [
    "ADIABATIC_KINETICS",
    "Change",
    "FactoryTable",
    "FactoryTruth",
    "Integration",
    "Kind",
    "Kinetics",
    "Misspecification",
    "MixedOptions",
    "MixedSimulation",
    "RegimeSimulation",
    "Simulation",
    "draw_changes",
    "factory",
    "hide_cells",
    "hnm",
    "linear_anm",
    "mean_variance_hnm",
    "mean_variance_hnm_from_graph",
    "misspecified",
    "misspecified_families",
    "mixed",
    "mixed_from_graph",
    "mixed_pair",
    "nonlinear_anm",
    "preset",
    "preset_descriptions",
    "presets",
    "random_moment_graph",
    "regimes",
    "sergio",
    "sergio_adiabatic",
    "sergio_adiabatic_from_graph",
    "sergio_from_graph",
]
