"""Answers: what interventions do to mean and spread, which levers steady a target, why it varies.

Everything is computed in samples of the posterior over graph pairs and functions, so every number
comes with an interval, in the units of the data.
"""

from momentdag.effects import export
from momentdag.effects.anomalies import AnomalyAttribution, attribute_anomaly
from momentdag.effects.change import AttributedChange, attribute_change
from momentdag.effects.changes import Shift
from momentdag.effects.contrasts import Contrast, contrast, direct_effect, total_effect
from momentdag.effects.counterfactuals import Counterfactual, counterfactual
from momentdag.effects.decomposition import VarianceDecomposition, decompose_variance
from momentdag.effects.experiments import ExperimentPlan, next_experiment
from momentdag.effects.interventions import Intervention, intervene
from momentdag.effects.lever_ranking import LeverRanking
from momentdag.effects.levers import levers
from momentdag.effects.optimise import optimise
from momentdag.effects.optimum import Optimum
from momentdag.effects.plots import plot_contours, plot_curve, plot_levers
from momentdag.effects.posterior_samples import MonteCarlo
from momentdag.effects.prediction import predict
from momentdag.effects.sampling import draw_rows

__all__ = [
    "AnomalyAttribution",
    "AttributedChange",
    "Contrast",
    "Counterfactual",
    "ExperimentPlan",
    "Intervention",
    "LeverRanking",
    "MonteCarlo",
    "Optimum",
    "Shift",
    "VarianceDecomposition",
    "attribute_anomaly",
    "attribute_change",
    "contrast",
    "counterfactual",
    "decompose_variance",
    "direct_effect",
    "draw_rows",
    "export",
    "intervene",
    "levers",
    "next_experiment",
    "optimise",
    "plot_contours",
    "plot_curve",
    "plot_levers",
    "predict",
    "total_effect",
]
