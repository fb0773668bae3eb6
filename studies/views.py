"""How graph recovery is shown: SHD rate and F1, of both graphs or of their union."""

from __future__ import annotations

from studies.case import Case
from studies.study import Metric, View

__all__ = ["mean_and_variance", "union"]


def mean_and_variance(cases: tuple[Case, ...]) -> tuple[View, ...]:
    """Return a view of the mean graph and one of the variance graph."""
    return (_recovery("Mean graph", "mean", cases), _recovery("Variance graph", "variance", cases))


def union(cases: tuple[Case, ...]) -> tuple[View, ...]:
    """Return a view of the moment-agnostic graph."""
    return (_recovery("Moment-agnostic graph", "union", cases),)


def _recovery(title: str, graph: str, cases: tuple[Case, ...]) -> View:
    metrics = (
        Metric(f"shd_rate_{graph}", "SHD rate", "lower", digits=3),
        Metric(f"f1_{graph}", "F1", "higher"),
    )
    return View(title, cases, metrics)
