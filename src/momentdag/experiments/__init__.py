"""The paper's experiments: one file for each table and figure, a registry, a runner.

`momentdag.experiments.runner.reproduce` runs them; `EXPERIMENTS` lists them.
"""

from momentdag.experiments.experiment import Experiment
from momentdag.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment"]
