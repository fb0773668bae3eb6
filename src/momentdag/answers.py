"""What a fitted `MomentDAG` answers by its own methods: rows, predictions, figures, the report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import networkx as nx
import pandas as pd
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from momentdag.display import html
from momentdag.errors import OptionError, quote

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from momentdag.effects import AnomalyAttribution, Counterfactual, MonteCarlo
    from momentdag.effects.inputs import FittedEstimator
    from momentdag.effects.settings import Do

__all__ = ["Answers"]

_SHOWN_EDGES = 15


class Answers:
    """Methods of a fitted estimator; each is a function of `momentdag.effects` or of the report.

    These packages stand on the estimator and take long to load, so they are imported when a method
    is called.
    """

    def plot(self, min_probability: float | None = None) -> Figure:
        """Return a figure of both consensus graphs, causes to the left of their effects.

        Parameters
        ----------
        min_probability : float, optional
            Also draw, faintly, edges that are not in the consensus but at least this probable.

        Raises
        ------
        OptionError
            If it is no probability.
        """
        from momentdag.display.graphs import FigureEdge, draw_graphs

        model = self._fitted()
        if min_probability is not None and not 0 < min_probability <= 1:
            raise OptionError(
                f"Expected min_probability above 0 and up to 1; got {quote(min_probability)}."
            )
        least = 2.0 if min_probability is None else min_probability
        consensus = {"mean": model.mean_graph_, "variance": model.variance_graph_}
        edges = [
            FigureEdge(cause, effect, moment, attributes["probability"])
            for moment, graph in consensus.items()
            for cause, effect, attributes in graph.edges(data=True)
        ]
        # What is only possible may close a circle; it is drawn as far as it does not.
        union = nx.compose(model.mean_graph_, model.variance_graph_)
        order = {name: k for k, name in enumerate(nx.topological_sort(union))}
        edges += [
            FigureEdge(row.cause, row.effect, row.moment, row.probability, False)
            for row in model.posterior_.edge_table(min_probability=least).itertuples()
            if not consensus[row.moment].has_edge(row.cause, row.effect)
            and order[row.cause] < order[row.effect]
        ]
        title = "Who moves the mean, who moves the variance"
        return draw_graphs(model.posterior_.names, edges, title)

    def sample(
        self, n: int | None = None, *, do: Do | None = None, random_state: int = 0
    ) -> pd.DataFrame:
        """Draw rows from the model, in the units of the file; see `momentdag.effects.draw_rows`."""
        from momentdag.effects import draw_rows

        return draw_rows(self._fitted(), n, do=do, random_state=random_state)

    def predict(
        self,
        X: object,
        target: str,
        *,
        level: float = 0.9,
        monte_carlo: MonteCarlo | None = None,
    ) -> pd.DataFrame:
        """Predict mean and sd of a variable from its causes; see `momentdag.effects.predict`."""
        from momentdag.effects import predict

        return predict(self._fitted(), X, target, level=level, monte_carlo=monte_carlo)

    def counterfactual(
        self,
        row: object,
        do: Do,
        *,
        targets: Sequence[str] | None = None,
        level: float = 0.9,
        monte_carlo: MonteCarlo | None = None,
    ) -> Counterfactual:
        """Say what a row would have been; see `momentdag.effects.counterfactual`."""
        from momentdag.effects import counterfactual

        return counterfactual(
            self._fitted(), row, do, targets=targets, level=level, monte_carlo=monte_carlo
        )

    def attribute_anomaly(
        self,
        row: object,
        target: str,
        *,
        level: float = 0.9,
        monte_carlo: MonteCarlo | None = None,
    ) -> AnomalyAttribution:
        """Say whose noise made a row unusual; see `momentdag.effects.attribute_anomaly`."""
        from momentdag.effects import attribute_anomaly

        return attribute_anomaly(self._fitted(), row, target, level=level, monte_carlo=monte_carlo)

    def to_report(
        self, data: object, path: str | os.PathLike[str], *, title: str | None = None
    ) -> Path:
        """Write the report of the fit, one HTML file; see `momentdag.report.write_report`.

        ``data`` are the rows of the fit, which the model does not keep.
        """
        # The report stands on everything else, this module included; by the front door.
        import momentdag

        return momentdag.report.write_report(cast(Any, self._fitted()), data, path, title=title)

    def _fitted(self) -> FittedEstimator:
        check_is_fitted(self, "posterior_")
        return cast("FittedEstimator", self)

    def _repr_html_(self) -> str:
        if not hasattr(self, "posterior_"):
            return str(estimator_html_repr(self))
        model = self._fitted()
        edges = model.posterior_.edge_table(min_probability=0.05)
        facts: dict[str, object] = {
            "engine": model.posterior_.provenance.engine,
            "status": model.result_.status,
            "draws": model.posterior_.n_draws,
            "variables": ", ".join(model.posterior_.names[:12])
            + (" ..." if len(model.posterior_.names) > 12 else ""),
            "mean graph": f"{model.mean_graph_.number_of_edges()} edges",
            "variance graph": f"{model.variance_graph_.number_of_edges()} edges",
        }
        parts = [html.fact_list(facts), html.table(edges.head(_SHOWN_EDGES))]
        if model.posterior_.diagnostics().is_poor:
            parts.append(html.sentence(model.posterior_.diagnostics().message()))
        return html.block("MomentDAG, fitted: the most probable edges", parts)

    def _repr_mimebundle_(self, **_: object) -> Mapping[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
