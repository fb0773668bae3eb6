"""Named simulations: one for each data set of the paper's experiments (n = 500 throughout)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from momentdag.errors import OptionError, did_you_mean
from momentdag.simulate.adiabatic import sergio_adiabatic
from momentdag.simulate.gene_network import Kinetics
from momentdag.simulate.hnm import hnm, linear_anm, mean_variance_hnm, nonlinear_anm
from momentdag.simulate.sergio import sergio
from momentdag.simulate.simulation import Simulation

__all__ = ["preset", "preset_descriptions", "presets"]

_N_SAMPLES = 500


class _Preset(NamedTuple):
    description: str
    simulate: Callable[..., Simulation]


def _sparse(n_variables: int) -> int:
    """Return the paper's edges per node: with 2, five variables always make a complete graph."""
    return 1 if n_variables == 5 else 2


def _registry() -> dict[str, _Preset]:
    found: dict[str, _Preset] = {}
    for d in (5, 10, 20, 50):
        found[f"sparse-{d}"] = _Preset(
            f"mean-variance HNM, {d} variables, {_sparse(d)} edges per node in each graph",
            partial(mean_variance_hnm, n_variables=d, edges_per_node=_sparse(d)),
        )
    for d in (10, 20):
        found[f"dense-{d}"] = _Preset(
            f"mean-variance HNM, {d} variables, 4 edges per node in each graph",
            partial(mean_variance_hnm, n_variables=d, edges_per_node=4),
        )
    for d in (2, 3, 4):
        found[f"linear-anm-{d}"] = _Preset(
            f"linear Gaussian ANM, {d} variables, each pair an edge with probability 1/2",
            partial(linear_anm, n_variables=d),
        )
    for d in (5, 10, 20, 50):
        found[f"anm-{d}"] = _Preset(
            f"nonlinear Gaussian ANM, {d} variables, {_sparse(d)} edges per node",
            partial(nonlinear_anm, n_variables=d, edges_per_node=_sparse(d)),
        )
    for d in (5, 10, 20, 50):
        found[f"hnm-{d}"] = _Preset(
            f"HNM with one graph for both moments, {d} variables, {_sparse(d)} edges per node",
            partial(hnm, n_variables=d, edges_per_node=_sparse(d)),
        )
    for d in (5, 10):
        found[f"laplace-{d}"] = _Preset(
            f"HNM with one graph for both moments and Laplace noise, {d} variables",
            partial(hnm, n_variables=d, edges_per_node=_sparse(d), noise="laplace"),
        )
    for d in (5, 10):
        found[f"student-{d}"] = _Preset(
            f"HNM with one graph for both moments and Student t(3) noise, {d} variables",
            partial(hnm, n_variables=d, edges_per_node=_sparse(d), noise="student_t3"),
        )
    for d in (10, 20, 50):
        found[f"sergio-{d}"] = _Preset(
            f"gene expression from the Langevin equation, {d} genes, scale-free graphs",
            partial(sergio, n_variables=d, kinetics=Kinetics(cell_basal=True)),
        )
    for d in (10, 20, 50):
        found[f"sergio-adiabatic-{d}"] = _Preset(
            f"gene expression in closed form, {d} genes, scale-free graphs",
            partial(sergio_adiabatic, n_variables=d),
        )
    found["literal-5"] = _Preset(
        "mean-variance HNM, 5 variables, network outputs as drawn",
        partial(mean_variance_hnm, n_variables=5, edges_per_node=1, scaling="literal"),
    )
    return found


_REGISTRY = _registry()


def presets() -> tuple[str, ...]:
    """Return the names of all presets.

    Examples
    --------
    >>> presets()[:3]
    ('sparse-5', 'sparse-10', 'sparse-20')
    """
    return tuple(_REGISTRY)


def preset_descriptions() -> dict[str, str]:
    """Return one line about each preset, by name.

    Examples
    --------
    >>> preset_descriptions()["linear-anm-2"]
    'linear Gaussian ANM, 2 variables, each pair an edge with probability 1/2'
    """
    return {name: entry.description for name, entry in _REGISTRY.items()}


def preset(name: str, rng: np.random.Generator, n_samples: int | None = None) -> Simulation:
    """Simulate a preset.

    Parameters
    ----------
    name : str
        One of `presets`.
    rng : numpy.random.Generator
    n_samples : int, optional
        Rows; default 500, as in the paper.

    Returns
    -------
    Simulation

    Raises
    ------
    OptionError
        If there is no such preset, or ``n_samples`` is not a whole number of at least 2.

    Examples
    --------
    >>> preset("dense-10", np.random.default_rng(0)).graph
    MomentGraph(10 variables, 40 mean edges, 40 variance edges)
    """
    if name not in _REGISTRY:
        raise OptionError(
            f"Expected a preset among {list(_REGISTRY)}; got {name!r}."
            f"{did_you_mean(name, _REGISTRY)}"
        )
    n_rows = _N_SAMPLES if n_samples is None else n_samples
    return _REGISTRY[name].simulate(rng, n_samples=n_rows)
