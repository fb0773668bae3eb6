"""How far an answer can be trusted, carried along with it.

Two things decide: whether the model reproduces the columns that the answer rests on, and whether
the draws agree with each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from momentdag.effects.inputs import FittedEstimator
from momentdag.posterior.diagnostics import GRADES, Grade

__all__ = ["Trust", "judge"]

_RELEVANT = 0.1  # least probability of a path for a variable to be part of an answer


@dataclass(frozen=True)
class Trust:
    """A grade with its reasons.

    Parameters
    ----------
    world : {"fine", "weak", "do not use"}
        Whether the model reproduces the columns that the answer rests on.
    draws : {"fine", "weak", "do not use"}
        Whether the draws agree.
    failed : tuple of str
        Columns that the model does not reproduce.
    """

    world: Grade
    draws: Grade
    failed: tuple[str, ...] = ()

    @property
    def grade(self) -> Grade:
        """The worse of the two."""
        return max(self.world, self.draws, key=GRADES.index)

    def to_dict(self) -> dict[str, object]:
        """Return plain values, for JSON."""
        return {
            "grade": self.grade,
            "world": self.world,
            "draws": self.draws,
            "not_reproduced": list(self.failed),
            "message": self.message(),
        }

    def message(self) -> str:
        """Return one sentence, empty if everything is fine."""
        reasons = []
        if self.failed:
            reasons.append(f"the model does not reproduce {', '.join(self.failed)}")
        elif self.world == "weak":
            reasons.append("the model reproduces the columns involved only roughly")
        if self.draws == "do not use":
            reasons.append("chains of draws contradict each other")
        elif self.draws == "weak":
            reasons.append("there are few independent draws")
        if not reasons:
            return ""
        verdict = "Do not use this answer" if self.grade == "do not use" else "A weak answer"
        return f"{verdict}: {'; '.join(reasons)}."


def judge(estimator: FittedEstimator, targets: Iterable[str]) -> Trust:
    """Return how far answers about ``targets`` can be trusted: they and their likely causes."""
    posterior = estimator.posterior_
    paths = posterior.ancestor_probabilities("either")
    involved = set(targets)
    for target in tuple(involved):
        involved |= {str(name) for name in paths.index[paths[target] >= _RELEVANT]}
    table = estimator.world_check().set_index("column")
    verdicts = {name: table.loc[name, "verdict"] for name in posterior.names if name in involved}
    return Trust(
        max(verdicts.values(), key=GRADES.index),
        posterior.diagnostics().grade_of(involved),
        tuple(name for name, verdict in verdicts.items() if verdict == "do not use"),
    )
