"""Screening: before a fit, is there heteroscedasticity; after it, does the model hold."""

from momentdag.screening.criticism import Criticism, criticise
from momentdag.screening.screen import Screening, heteroscedasticity

__all__ = ["Criticism", "Screening", "criticise", "heteroscedasticity"]
