"""Basis functions of a parent set: Nyström features of a kernel, rotated to be orthogonal.

For inputs x_S (n, |S|) and M inducing rows the Nyström features Φ = K_nM chol(K_MM)^-T reproduce
the kernel on the inducing rows. Centred and rotated by the eigenvectors of Φ'Φ they become
Φ = Q diag(λ)^½ with Q'Q = I, so a function a^½ Φ w with w ~ N(0, I) is Q w̃ with
w̃ ~ N(0, a diag(λ)). One Q then serves every amplitude a, and everything that is homoscedastic is
diagonal. An intercept is the first column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dtrtrs

from momentdag.engines.evidence.local.inputs import (
    InputScale,
    RankScale,
    as_features,
    input_places,
)
from momentdag.engines.evidence.local.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import members
from momentdag.engines.evidence.support.cache import BudgetedCache
from momentdag.engines.region import Region

__all__ = ["Basis", "FeatureMap", "Kernel", "Projection"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Basis(NamedTuple):
    """Orthonormal basis functions on the sample and their prior variances (amplitude one)."""

    functions: FloatArray  # (n, r), first column the intercept
    variances: FloatArray  # (r,)


@dataclass(frozen=True)
class Kernel:
    """A covariance function on the standardised inputs of a parent set.

    Parameters
    ----------
    shape : {"network", "rbf"}
        The covariance of an infinitely wide network of erf units (Williams 1998) with weight
        variance ``scale²`` and bias variance ``bias``, or the squared exponential with length
        scale ``scale`` √|S|.
    scale, bias : float
    linear : float
        Variance of the slopes of a linear function that is added.
    """

    shape: Literal["network", "rbf"]
    scale: float
    bias: float = 0.0
    linear: float = 0.0

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the covariance between rows of ``a`` (n, k) and ``b`` (m, k), shape (n, m)."""
        inner = a @ b.T
        a2, b2 = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
        if self.shape == "rbf":
            squared = a2[:, None] + b2 - 2 * inner
            nonlinear = np.exp(squared * (-0.5 / (self.scale**2 * a.shape[1])))
        else:
            weight = 2 * self.scale**2
            a_norm, b_norm = (1 / np.sqrt(1 + 2 * self.bias + weight * x2) for x2 in (a2, b2))
            cosine = weight * inner
            cosine += 2 * self.bias
            cosine *= a_norm[:, None]
            cosine *= b_norm
            # Below one in size always: the ones under the roots keep the norms larger.
            nonlinear = np.arcsin(cosine, out=cosine) * (2 / np.pi)
        return np.asarray(nonlinear + self.linear * inner if self.linear else nonlinear)


@dataclass(frozen=True, eq=False)
class Projection:
    """The basis functions of one parent set at any rows: K(x, inducing) W - offset, and 1/√n.

    Parameters
    ----------
    kernel : Kernel
    columns : int array, shape (k,)
        The parents among the columns of a row.
    scales : tuple of InputScale, or None
        Of the parents, if some enter as ranks or levels.
    inducing : float array, shape (M, k)
    weights : float array, shape (M, r - 1)
    offset : float array, shape (r - 1,)
    constant : float
        The intercept's basis function, the same in every row.
    region : Region or None
        Where the training rows lie; inputs outside are moved to its edge.
    """

    kernel: Kernel
    columns: npt.NDArray[np.intp]
    scales: tuple[InputScale, ...] | None
    inducing: FloatArray
    weights: FloatArray
    offset: FloatArray
    constant: float
    region: Region | None = None

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the basis functions at standardised rows (m, d), shape (m, r)."""
        intercept = np.full((len(values), 1), self.constant)
        if not len(self.columns):
            return intercept
        return np.hstack([intercept, self._kernel(values) @ self.weights - self.offset])

    def function(self, coefficients: FloatArray, values: FloatArray) -> FloatArray:
        """Return the function with these ``coefficients`` (r,) at standardised rows, (m,)."""
        intercept = self.constant * coefficients[0] - float(self.offset @ coefficients[1:])
        if not len(self.columns):
            return np.full(len(values), intercept)
        # One product with the kernel, not one for each basis function.
        return np.asarray(self._kernel(values) @ (self.weights @ coefficients[1:]) + intercept)

    def in_box(self) -> Projection:
        """Return the same with inputs kept within their ranges only, which is fast for many rows.

        For fitting to further rows of the same table, which hardly leave the region of the others.
        """
        region = None if self.region is None else replace(self.region, is_joint=False)
        return replace(self, region=region)

    def inputs(self, values: FloatArray) -> FloatArray:
        """Return the inputs of standardised rows (m, d), wherever they lie, (m, k)."""
        return as_features(values[:, self.columns], self.scales)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which standardised rows (m, d) leave the region, (m,)."""
        if self.region is None or not len(self.columns):
            return np.zeros(len(values), dtype=bool)
        return self.region.outside(self.inputs(values))

    def _kernel(self, values: FloatArray) -> FloatArray:
        inputs = self.inputs(values)
        if self.region is not None:
            inputs = self.region.clamp(inputs)
        return self.kernel(inputs, self.inducing)


def _basis_bytes(basis: Basis) -> int:
    return basis.functions.nbytes


class FeatureMap:
    """Bases of parent sets (bit masks), built on demand and kept within a memory budget.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    kernel : Kernel
    inducing_rows : int array, shape (M,)
    detail : float
        Directions with less than this share of the kernel's variance are left out.
    scales : tuple of InputScale, or None
        How each column enters; None for values.
    budget_bytes : int
    """

    def __init__(
        self,
        values: FloatArray,
        kernel: Kernel,
        inducing_rows: npt.NDArray[np.intp],
        detail: float,
        scales: tuple[InputScale, ...] | None = None,
        budget_bytes: int = TUNING.cached_basis_bytes,
    ) -> None:
        self.values = values
        self._scales = scales
        self._places = input_places(scales, values.shape[1])
        self.inputs = as_features(values, scales)
        n = len(values)
        self.kernel = kernel
        self.detail = detail
        self.inducing_rows = inducing_rows
        self._bases: BudgetedCache[int, Basis] = BudgetedCache(budget_bytes, _basis_bytes)
        variance = np.array([TUNING.intercept_variance * n])
        self.constant = Basis(np.full((n, 1), 1 / np.sqrt(n)), variance)

    @property
    def uses_ranks(self) -> bool:
        """Whether inputs are normal scores of ranks."""
        return self._scales is not None and any(isinstance(one, RankScale) for one in self._scales)

    def _inside(self, mask: int) -> list[int]:
        """Return the places of a parent set among the inputs."""
        return [place for j in members(mask) for place in self._places[j]]

    def __call__(self, mask: int) -> Basis:
        """Return the basis of the parent set ``mask``."""
        return self._bases.get(mask, lambda: self.evaluate(mask)) if mask else self.constant

    def evaluate(self, mask: int) -> Basis:
        """Build the basis of one parent set."""
        columns = self.inputs[:, self._inside(mask)]
        features, _ = self._nystroem(columns)
        features -= features.mean(axis=0)
        n = len(features)
        eigenvalues, rotation = _spectrum(features, self.detail)
        if len(eigenvalues) == 0:
            # A cause that hardly ever moves: no function of it shows in the sample.
            return self.constant
        functions = np.empty((n, 1 + len(eigenvalues)))
        functions[:, 0] = self.constant.functions[0, 0]
        np.matmul(features, rotation, out=functions[:, 1:])
        # At amplitude one a function then has variance one over the sample, for every kernel and
        # every parent set, so that amplitudes mean the same everywhere.
        eigenvalues *= n / eigenvalues.sum()
        return Basis(functions, np.append(self.constant.variances, eigenvalues))

    def project(self, mask: int, values: FloatArray) -> FloatArray:
        """Return the basis functions of ``mask`` at new standardised rows (m, d), (m, r)."""
        return self.projection(mask)(values)

    def projection(self, mask: int) -> Projection:
        """Return the basis functions of ``mask`` in a form that new rows can be put into."""
        constant = float(self.constant.functions[0, 0])
        inside = np.array(members(mask), dtype=np.intp)
        scales = None if self._scales is None else tuple(self._scales[j] for j in inside)
        if mask == 0:
            nothing = np.zeros((0, 0))
            return Projection(self.kernel, inside, scales, nothing, nothing, np.zeros(0), constant)
        training = self.inputs[:, self._inside(mask)]
        features, factor = self._nystroem(training)
        centre = features.mean(axis=0)
        _, rotation = _spectrum(features - centre, self.detail)
        weights, _ = dtrtrs(factor, rotation, lower=1, trans=1)
        return Projection(
            self.kernel,
            inside,
            scales,
            training[self.inducing_rows],
            weights,
            centre @ rotation,
            constant,
            Region(training),
        )

    def _nystroem(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the raw features (n, M) and the factor (M, M) that made them from the kernel."""
        cross = self.kernel(columns, columns[self.inducing_rows])
        # A jitter relative to the diagonal keeps repeated inducing rows from breaking the factor.
        inducing = cross[self.inducing_rows]
        inducing.flat[:: len(inducing) + 1] += TUNING.jitter * np.trace(inducing) / len(inducing)
        factor, status = dpotrf(inducing, lower=1)
        if status != 0:
            raise np.linalg.LinAlgError("The kernel matrix of the inducing rows is not positive.")
        features, _ = dtrtrs(factor, cross.T, lower=1)
        return np.ascontiguousarray(features.T), factor


def _spectrum(features: FloatArray, detail: float) -> tuple[FloatArray, FloatArray]:
    """Return the variances that matter and the rotation to orthonormal functions, (M, r)."""
    eigenvalues, vectors = np.linalg.eigh(features.T @ features)
    kept = eigenvalues > detail * len(features)
    return eigenvalues[kept], vectors[:, kept] / np.sqrt(eigenvalues[kept])
