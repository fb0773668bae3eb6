"""The findings of a criticism in sentences, each with something to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momentdag.screening.checks import FITTED
from momentdag.table.kinds import Kind

if TYPE_CHECKING:
    from momentdag.screening.criticism import Criticism

__all__ = ["describe", "findings", "shape_of", "suits_logarithm", "suits_transform"]

_HEAVY = 0.5  # excess kurtosis worth mentioning
_LOPSIDED = 0.2  # asymmetry of the quantiles worth mentioning
# What to try where the distribution of a discrete column does not fit.
_OTHER_KINDS: dict[Kind, str] = {
    "ordered": 'try the kind "count" or "continuous" for it',
    "count": 'try the kind "ordered" or "continuous" for it',
}


def describe(criticism: Criticism) -> str:
    """Return the headline, one line for each finding, and the log score."""
    residuals = criticism.residuals
    texts = findings(criticism)
    head = (
        f"Criticism of {residuals.graph!r} on {residuals.dataset.n_samples} rows "
        f"({'those of the fit' if residuals.seen else 'new rows'}), chance of any false alarm "
        f"{criticism.level:.0%}: "
    )
    head += f"{len(texts)} findings." if texts else "there is no evidence against the model."
    return "\n".join([head, *(f"- {text}" for text in texts), _score(criticism)])


def findings(criticism: Criticism) -> tuple[str, ...]:
    """Return a sentence or two for each finding."""
    level = criticism.level
    texts = [_non_gaussian(criticism, name) for name in criticism.non_gaussian]
    table = criticism.variables
    texts += [
        _misfit(criticism, str(name), row["p_noise"])
        for name, row in table[table["p_noise"] < level].iterrows()
    ]
    dependence = criticism.dependence
    texts += [
        _dependent(criticism, row)
        for _, row in dependence[dependence["p_value"] < level].iterrows()
    ]
    pairs = criticism.noise_pairs
    texts += [
        f"{row['first']} and {row['second']}: their residuals move together (correlation "
        f"{row['correlation']:.2f}, of sizes {row['size_correlation']:.2f}, p "
        f"{_p(row['p_value'])}). A common cause may be unmeasured, or an edge missing or reversed."
        for _, row in pairs[pairs["p_value"] < level].iterrows()
    ]
    return tuple(texts)


def shape_of(row: Any) -> str:
    """Return the shape of residuals in words, from a row of ``Criticism.variables``."""
    shape = [
        *(["heavy tails"] if row["excess_kurtosis"] > _HEAVY else []),
        *(["light tails"] if row["excess_kurtosis"] < -_HEAVY else []),
    ]
    if abs(row["asymmetry"]) > _LOPSIDED:
        shape.append(f"skewed to the {'right' if row['asymmetry'] > 0 else 'left'}")
    return ", ".join(shape) if shape else "another shape"


def suits_logarithm(criticism: Criticism, name: str) -> bool:
    """Tell whether a logarithm could help: of a positive number that is not skewed to the left."""
    dataset = criticism.residuals.dataset
    if not suits_transform(criticism, name):
        return False
    column = dataset.values[:, dataset.index(name)]
    lopsided = criticism.variables.loc[name, "asymmetry"]
    return bool(column.min() > 0 and lopsided > -_LOPSIDED)


def suits_transform(criticism: Criticism, name: str) -> bool:
    """Tell whether a transform could help: of numbers with tails or a skew, never of levels."""
    row = criticism.variables.loc[name]
    shaped = row["excess_kurtosis"] > _HEAVY or abs(row["asymmetry"]) > _LOPSIDED
    return bool(_kind(criticism, name) == "continuous" and shaped)


def _non_gaussian(criticism: Criticism, name: str) -> str:
    row = criticism.variables.loc[name]
    heavy = row["excess_kurtosis"] > _HEAVY
    text = (
        f"{name}: residuals are not Gaussian ({shape_of(row)}; skewness "
        f"{row['skewness']:.2f}, excess kurtosis {row['excess_kurtosis']:.2f}, p "
        f"{_p(row['p_gaussian'])}). The theorem that tells mean causes from variance causes "
        "assumes Gaussian noise and does not cover this variable."
    )
    matches = row["p_noise"] >= criticism.level and criticism.noise != "gaussian"
    if matches:
        text += f" The {criticism.noise} noise of this fit matches the shape, so the posterior"
        text += " allows for it."
    engine = "" if criticism.engine == "evidence" else 'engine="evidence", '
    families = [*(["student"] if heavy else []), "flexible"]
    remedies = [
        f'{engine}engine_options={{"noise": "{family}"}}'
        for family in families
        if family != criticism.noise
    ]
    if suits_logarithm(criticism, name):
        remedies.append("its logarithm")
    elif suits_transform(criticism, name):
        remedies.append("a transform (such as Yeo-Johnson)")
    if not remedies:
        return text
    verb = "Compare with" if matches else "Try"
    return f"{text} {verb} {' or '.join(remedies)}."


def _kind(criticism: Criticism, name: str) -> Kind:
    dataset = criticism.residuals.dataset
    return dataset.kinds[dataset.index(name)]


def _misfit(criticism: Criticism, name: str, p_value: float) -> str:
    if name not in criticism.residuals.discrete:
        return (
            f"{name}: the fitted noise does not match the residuals (p {_p(p_value)}). "
            "Probabilities of edges into it are unreliable; try another noise family or a "
            "transform."
        )
    advice = _OTHER_KINDS.get(_kind(criticism, name), "a cause may be missing")
    return (
        f"{name}: its fitted probabilities do not match the data (p {_p(p_value)}). "
        f"Probabilities of edges into it are unreliable; {advice}."
    )


def _dependent(criticism: Criticism, row: Any) -> str:
    discrete = row["variable"] in criticism.residuals.discrete
    if row["other"] == FITTED:
        text = (
            f"{row['variable']}: the size of its residual changes with its fitted mean (p "
            f"{_p(row['p_value'])}). Its variance function misses something"
        )
        if discrete:
            advice = _OTHER_KINDS.get(_kind(criticism, row["variable"]), "a cause may be missing")
            return f"{text}; {advice}."
        if suits_logarithm(criticism, row["variable"]):
            return f"{text}; its logarithm often helps."
        return f"{text}; a cause may be missing."
    if discrete and _kind(criticism, row["variable"]) in ("binary", "category"):
        return _dependent_levels(row)
    what = "residual" if row["moment"] == "mean" else "size of its residual"
    text = (
        f"{row['variable']}: the {what} still changes with {row['other']} (p {_p(row['p_value'])})"
    )
    if row["role"] == "parent":
        transform = "" if discrete else " or a transform"
        return (
            f"{text}, although it is a {row['moment']} cause. The fitted {row['moment']} function "
            f"is too stiff; try more inducing rows (n_inducing){transform}."
        )
    return (
        f"{text}, which is not a {row['moment']} cause in this pair (probability of the edge "
        f"{row['probability']:.2f}). The edge may be missing."
    )


def _dependent_levels(row: Any) -> str:
    text = (
        f"{row['variable']}: its values still change with {row['other']} (p {_p(row['p_value'])})"
    )
    if row["role"] == "parent":
        return (
            f"{text}, although it is a cause. The fitted probabilities are too stiff; try more "
            "inducing rows (n_inducing)."
        )
    return (
        f"{text}, which is not a cause in this pair (probability of the edge "
        f"{row['probability']:.2f}). The edge may be missing."
    )


def _score(criticism: Criticism) -> str:
    shapes = np.concatenate([score.shape for score in criticism.scores.values()])
    if not criticism.residuals.seen:
        kind = "on new rows"
    elif np.isneginf(shapes).all():
        kind = "on the rows of the fit (functions are point estimates: no row is left out)"
    else:
        kind = "leave-one-out (functions re-weighted; graph, kernels and noise shape kept)"
    text = f"Log score per row, {kind}: {criticism.log_score:.3f}."
    n_influential = int(criticism.variables["n_influential"].sum())
    if n_influential:
        text += f" {n_influential} cells are so influential that their scores are unreliable."
    return text


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
