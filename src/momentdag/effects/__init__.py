"""Answers: what interventions do to mean and spread, which levers steady a target, why it varies.

Everything is computed in samples of the posterior over graph pairs and functions, so every number
comes with an interval, in the units of the data.
"""

from momentdag.effects import export
from momentdag.effects.change import AttributedChange, attribute_change
from momentdag.effects.contrasts import Contrast, contrast, direct_effect, total_effect
from momentdag.effects.decomposition import VarianceDecomposition, decompose_variance
from momentdag.effects.experiments import ExperimentPlan, next_experiment
from momentdag.effects.interventions import Intervention, intervene
from momentdag.effects.lever_ranking import LeverRanking
from momentdag.effects.levers import levers
from momentdag.effects.posterior_samples import MonteCarlo

__all__ = [
    "AttributedChange",
    "Contrast",
    "ExperimentPlan",
    "Intervention",
    "LeverRanking",
    "MonteCarlo",
    "VarianceDecomposition",
    "attribute_change",
    "contrast",
    "decompose_variance",
    "direct_effect",
    "export",
    "intervene",
    "levers",
    "next_experiment",
    "total_effect",
]
