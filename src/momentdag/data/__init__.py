"""Data: the border where a table becomes a checked, labelled `Dataset`."""

from momentdag.data.checks import MIN_SAMPLES
from momentdag.data.dataset import Dataset
from momentdag.data.files import MAX_FILE_BYTES

__all__ = ["MAX_FILE_BYTES", "MIN_SAMPLES", "Dataset"]
