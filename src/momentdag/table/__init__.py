"""Tables: reading and checking them as a labelled `Dataset`."""

from momentdag.table.checks import MIN_SAMPLES
from momentdag.table.dataset import Dataset
from momentdag.table.files import MAX_FILE_BYTES
from momentdag.table.observed import Observed

__all__ = ["MAX_FILE_BYTES", "MIN_SAMPLES", "Dataset", "Observed"]
