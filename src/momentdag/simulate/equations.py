"""Structural equations, and sampling from them in causal order.

X_j = m_j(X_paM(j)) + exp(v_j(X_paV(j))) * E_j        (paper, eq. in appendix D.3.1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from momentdag.simulate.mechanisms import Mechanism
from momentdag.simulate.noise import NoiseKind, draw_noise, noise_std
from momentdag.simulate.options import FloatArray, check_finite

__all__ = ["StructuralEquation", "StructuralEquations", "grow_equations"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class StructuralEquation:
    """One variable's mechanism.

    Parameters
    ----------
    mean_parents, variance_parents : int array
        Columns that the two mechanisms read.
    mean, log_std : Mechanism
        m_j and v_j.
    """

    mean_parents: IntArray
    variance_parents: IntArray
    mean: Mechanism
    log_std: Mechanism

    def location(self, values: FloatArray) -> FloatArray:
        """Return m_j at each row of a table of shape (n, d)."""
        return self.mean(values[:, self.mean_parents])

    def scale(self, values: FloatArray) -> FloatArray:
        """Return exp(v_j) at each row of a table of shape (n, d)."""
        # An overflow is reported by the check on the finished table, with the variable's name.
        with np.errstate(over="ignore"):
            return np.exp(self.log_std(values[:, self.variance_parents]))

    def evaluate(self, values: FloatArray, noise: FloatArray) -> FloatArray:
        """Return X_j from the parents' columns and one noise value for each row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.location(values) + self.scale(values) * noise


@dataclass(frozen=True, eq=False)
class StructuralEquations:
    """A complete model: one equation for each column, an order, and a noise.

    Parameters
    ----------
    equations : sequence of StructuralEquation
        In column order.
    order : sequence of int
        Columns, causes first.
    noise : {"gaussian", "laplace", "student_t3"}
    """

    equations: tuple[StructuralEquation, ...]
    order: tuple[int, ...]
    noise: NoiseKind

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw rows in which the columns of ``fixed`` are set, shape (n_samples, d)."""
        # All noise is drawn first and for every column: with one seed, two interventions then
        # share their noise, and columns that neither reaches are equal.
        noise = draw_noise(rng, self.noise, (n_samples, len(self.equations)))
        values = np.zeros_like(noise)
        for j in self.order:
            if j in fixed:
                values[:, j] = fixed[j]
            else:
                values[:, j] = self.equations[j].evaluate(values, noise[:, j])
        return values

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return conditional mean and sd of each entry given its parents, shapes (n, d)."""
        mean = np.column_stack([equation.location(values) for equation in self.equations])
        scale = np.column_stack([equation.scale(values) for equation in self.equations])
        return mean, scale * noise_std(self.noise)


def grow_equations(
    rng: np.random.Generator,
    names: Sequence[str],
    order: Sequence[int],
    n_samples: int,
    noise: NoiseKind,
    draw_equation: Callable[[int, FloatArray], StructuralEquation],
) -> tuple[StructuralEquations, FloatArray]:
    """Draw equations one after the other, each given the sample of its causes.

    A mechanism that is standardised over the sample depends on its parents' values, so the model
    and the first table are drawn in one pass.

    Parameters
    ----------
    draw_equation : callable
        From a column and the table so far, shape (n_samples, d), to the column's equation.

    Returns
    -------
    model : StructuralEquations
    values : float array, shape (n_samples, d)

    Raises
    ------
    DataError
        If a variable is not finite; checked at once, before its effects are built on it.
    """
    draws = draw_noise(rng, noise, (n_samples, len(order)))
    values = np.zeros_like(draws)
    equations: dict[int, StructuralEquation] = {}
    for j in order:
        equations[j] = draw_equation(j, values)
        values[:, j] = equations[j].evaluate(values, draws[:, j])
        check_finite(values, names, "Choose scaling='standardised' or smaller scales.")
    in_columns = tuple(equations[j] for j in range(len(order)))
    return StructuralEquations(in_columns, tuple(int(j) for j in order), noise), values
