"""Screening: test for heteroscedasticity before a fit, and criticise the model after it."""

from momentdag.screening.criticism import Criticism, criticise
from momentdag.screening.screen import Screening, heteroscedasticity

__all__ = ["Criticism", "Screening", "criticise", "heteroscedasticity"]
