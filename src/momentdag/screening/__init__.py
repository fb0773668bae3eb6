"""Screening: is there heteroscedasticity, and does a fitted model describe the data."""

from momentdag.screening.criticism import Criticism, criticise
from momentdag.screening.screen import Screening, heteroscedasticity

__all__ = ["Criticism", "Screening", "criticise", "heteroscedasticity"]
