"""What an answer is about: a variable, or one level of a category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from momentdag.errors import OptionError, did_you_mean, quote
from momentdag.table import Observed

__all__ = [
    "Target",
    "categories_of",
    "find_target",
    "named_levels",
    "spell_target",
    "targets_of",
]


class Target(NamedTuple):
    """A column, or one level of it: then mean and sd are those of "it has this level"."""

    column: int
    level: float | None = None  # its value in the data


def categories_of(observed: Observed) -> Mapping[str, Mapping[str, float]]:
    """Return the categories with the names of the levels that occur, and their values."""
    found = {}
    for name, kind in observed.kinds.items():
        if kind == "category":
            labels = observed.labels.get(name)
            found[name] = {
                f"{level:g}" if labels is None else labels[int(level)]: float(level)
                for level in observed.levels[name]
            }
    return found


def named_levels(observed: Observed) -> Mapping[str, Mapping[str, float]]:
    """Return the same, and binary columns of text with their two levels."""
    binary = {
        name: {label: float(code) for code, label in enumerate(labels)}
        for name, labels in observed.labels.items()
        if observed.kinds.get(name) == "binary"
    }
    return {**categories_of(observed), **binary}


def spell_target(name: str, level: str) -> str:
    """Return how one level of a category is named as a target.

    Examples
    --------
    >>> spell_target("machine", "M2")
    'machine=M2'
    """
    return f"{name}={level}"


def targets_of(observed: Observed, name: str) -> tuple[str, ...]:
    """Return the targets that a variable stands for.

    Itself; each level of a category; and of a binary column of text the second level, so that its
    mean has a name.
    """
    levels = named_levels(observed).get(name)
    if levels is None:
        return (name,)
    chosen = list(levels)[1:] if observed.kinds.get(name) == "binary" else list(levels)
    return tuple(spell_target(name, level) for level in chosen)


def find_target(names: Sequence[str], observed: Observed, target: str) -> Target:
    """Return what a target refers to.

    Raises
    ------
    OptionError
        If there is no such variable or level.
    """
    categories = categories_of(observed)
    if target in names and target not in categories:
        return Target(names.index(target))
    for name, levels in named_levels(observed).items():
        level = target[len(name) + 1 :]
        if target.startswith(f"{name}=") and level in levels:
            return Target(names.index(name), levels[level])
    if target in categories:
        raise OptionError(
            f"{quote(target)} is a category, which has no mean. Name one of its levels: "
            f"{', '.join(targets_of(observed, target))}."
        )
    known = [*names, *(one for name in names for one in targets_of(observed, name))]
    raise OptionError(
        f"Unknown variable {target!r} in targets.{did_you_mean(target, known)} Use {list(names)}."
    )
