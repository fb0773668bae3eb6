"""Turn any ``random_state`` into a seed that can be stored."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from momentdag.errors import OptionError

__all__ = ["Seed", "seed_of"]

Seed: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"


def seed_of(random_state: Seed) -> int:
    """Return an integer seed that stands for ``random_state``.

    Raises
    ------
    OptionError
        If it is not a non-negative integer, a generator or None.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    is_number = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if is_number and random_state >= 0:
        return int(random_state)
    raise OptionError(
        f"Expected random_state to be a non-negative integer, a generator or None; got "
        f"{random_state!r}."
    )
