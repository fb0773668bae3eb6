"""Basis functions of a parent set: Nyström features of a kernel, rotated to be orthogonal.

For inputs x_S (n, |S|) and M inducing rows the Nyström features Φ = K_nM chol(K_MM)^-T reproduce
the kernel on the inducing rows. Centred and rotated by the eigenvectors of Φ'Φ they become
Φ = Q diag(λ)^½ with Q'Q = I, so a function a^½ Φ w with w ~ N(0, I) is Q w̃ with
w̃ ~ N(0, a diag(λ)). One Q then serves every amplitude a, and everything that is homoscedastic is
diagonal. An intercept is the first column.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.special import ndtri

__all__ = ["Basis", "FeatureMap", "Kernel", "members", "normal_scores"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_INTERCEPT_VARIANCE = 10.0
_JITTER = 1e-7
# Directions whose share of the kernel's variance is below this are left out. A mean may have to be
# exact to a small fraction of its range (where the noise is small), a log standard deviation not.
MEAN_DETAIL, SCALE_DETAIL = 1e-6, 2e-5


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


def normal_scores(values: FloatArray, among: FloatArray) -> FloatArray:
    """Map columns (m, d) to normal quantiles of their mean ranks among sorted columns (n, d)."""
    n = len(among)
    ranks = np.empty(values.shape)
    for j, own in enumerate(among.T):
        low = np.searchsorted(own, values[:, j], "left")
        ranks[:, j] = 0.5 * (low + np.searchsorted(own, values[:, j], "right"))
    return np.asarray(ndtri(np.clip(ranks, 0.5, n - 0.5) / n))


def members(mask: int) -> list[int]:
    """Return the indices of the bits set in ``mask``, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class FeatureMap:
    """Bases of parent sets (bit masks), built on demand and kept within a memory budget."""

    def __init__(
        self,
        values: FloatArray,
        kernel: Kernel,
        inducing_rows: npt.NDArray[np.intp],
        detail: float,
        ranks: bool = False,
        budget_bytes: int = 300 * 2**20,
    ) -> None:
        self._sorted = np.sort(values, axis=0) if ranks else None
        self.inputs = self.transform(values)
        n = len(values)
        self.kernel = kernel
        self._detail = detail
        self.inducing_rows = inducing_rows
        self._budget = budget_bytes
        self._bytes = 0
        self._kept: OrderedDict[int, Basis] = OrderedDict()
        self.constant = Basis(np.full((n, 1), 1 / np.sqrt(n)), np.array([_INTERCEPT_VARIANCE * n]))

    def transform(self, values: FloatArray) -> FloatArray:
        """Map new standardised rows (m, d) to the scale of the inputs."""
        return values if self._sorted is None else normal_scores(values, self._sorted)

    def __call__(self, mask: int) -> Basis:
        """Return the basis of the parent set ``mask``."""
        if mask == 0:
            return self.constant
        basis = self._kept.get(mask)
        if basis is not None:
            self._kept.move_to_end(mask)
            return basis
        basis = self.evaluate(mask)
        self._kept[mask] = basis
        self._bytes += basis.functions.nbytes
        while self._bytes > self._budget and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].functions.nbytes
        return basis

    def evaluate(self, mask: int) -> Basis:
        """Build the basis of one parent set."""
        columns = self.inputs[:, members(mask)]
        features, _ = self._nystroem(columns)
        features -= features.mean(axis=0)
        n = len(features)
        eigenvalues, rotation = _spectrum(features, self._detail)
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
        constant = np.full((len(values), 1), self.constant.functions[0, 0])
        if mask == 0:
            return constant
        inside = members(mask)
        training = self.inputs[:, inside]
        features, factor = self._nystroem(training)
        centre = features.mean(axis=0)
        _, rotation = _spectrum(features - centre, self._detail)
        cross = self.kernel(self.transform(values)[:, inside], training[self.inducing_rows])
        new, _ = dtrtrs(factor, cross.T, lower=1)
        return np.hstack([constant, (new.T - centre) @ rotation])

    def _nystroem(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the raw features (n, M) and the factor (M, M) that made them from the kernel."""
        cross = self.kernel(columns, columns[self.inducing_rows])
        # A jitter relative to the diagonal keeps repeated inducing rows from breaking the factor.
        inducing = cross[self.inducing_rows]
        inducing.flat[:: len(inducing) + 1] += _JITTER * np.trace(inducing) / len(inducing)
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
