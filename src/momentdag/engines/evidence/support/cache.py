"""One cache for whatever can be computed again: the least recently used goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

__all__ = ["BudgetedCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def count_one(value: object) -> int:
    """Count a value as one."""
    return 1


class BudgetedCache(Generic[K, V]):
    """Values by key, as many as a budget holds; the last one used always stays.

    Parameters
    ----------
    budget : int
        Sum of the sizes that are kept.
    size : callable
        Size of a value in the unit of the budget, a function that can be pickled; by default
        every value counts one.

    Examples
    --------
    >>> cache = BudgetedCache(budget=2)
    >>> [cache.get(word, lambda: word.upper()) for word in ("a", "b", "c")]
    ['A', 'B', 'C']
    >>> list(cache)
    ['b', 'c']
    """

    def __init__(self, budget: int, size: Callable[[V], int] = count_one) -> None:
        self._budget = budget
        self._size = size
        self._used = 0
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, compute: Callable[[], V]) -> V:
        """Return the value of ``key``, computed if it is not there."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = compute()
        self._values[key] = value
        self._used += self._size(value)
        while self._used > self._budget and len(self._values) > 1:
            self._used -= self._size(self._values.popitem(last=False)[1])
        return value

    @property
    def used(self) -> int:
        """Sum of the sizes of what is kept."""
        return self._used

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._used = 0

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process or stored it is empty: its content can be computed again.
        return type(self), (self._budget, self._size)
