"""The one cache: what stays, what goes, and what travels."""

import pickle

from momentdag.engines.evidence.support.cache import BudgetedCache


def length(word):
    return len(word)


def filled(*words, budget=6):
    cache = BudgetedCache(budget, length)
    for word in words:
        cache.get(word, lambda word=word: word)
    return cache


def test_the_least_recently_used_goes_first():
    cache = filled("aa", "bb", "cc")
    cache.get("aa", lambda: None)  # used again: bb is now the oldest
    cache.get("dd", lambda: "dd")
    assert list(cache) == ["cc", "aa", "dd"]
    assert cache.used == 6


def test_a_value_larger_than_the_budget_is_kept_alone():
    cache = filled("aa", "a very long word")
    assert list(cache) == ["a very long word"]


def test_a_kept_value_is_not_computed_again():
    cache = filled("aa")
    assert cache.get("aa", lambda: 1 / 0) == "aa"


def test_none_is_a_value():
    cache = BudgetedCache(2)
    assert cache.get("x", lambda: None) is None
    assert "x" in cache
    assert cache.get("x", lambda: 1 / 0) is None


def test_a_copy_for_another_process_is_empty_and_works():
    copy = pickle.loads(pickle.dumps(filled("aa", "bb")))
    assert len(copy) == copy.used == 0
    assert copy.get("cccc", lambda: "cccc") == "cccc"
    assert copy.used == 4


def test_cleared_it_starts_afresh():
    cache = filled("aa", "bb")
    cache.clear()
    assert len(cache) == cache.used == 0
