"""Tables: any ordinary table is checked and prepared as a labelled `Dataset`."""

from momentdag.table.check import Check, check
from momentdag.table.checks import MIN_SAMPLES
from momentdag.table.dataset import Dataset
from momentdag.table.experiment import Experiment, Regimes
from momentdag.table.experimental import with_experiment
from momentdag.table.files import MAX_FILE_BYTES
from momentdag.table.kinds import KINDS, Kind
from momentdag.table.observed import Observed
from momentdag.table.prepare import Prepared, prepare_table
from momentdag.table.recipe import ColumnRecipe, Recipe

__all__ = [
    "KINDS",
    "MAX_FILE_BYTES",
    "MIN_SAMPLES",
    "Check",
    "ColumnRecipe",
    "Dataset",
    "Experiment",
    "Kind",
    "Observed",
    "Prepared",
    "Recipe",
    "Regimes",
    "check",
    "prepare_table",
    "with_experiment",
]
