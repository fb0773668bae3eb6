import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.seeds import seed_of


def test_generators_in_the_same_state_give_the_same_seed():
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    assert seed_of(None) != seed_of(None)


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", True])
def test_anything_else_is_refused(wrong):
    with pytest.raises(OptionError, match="random_state"):
        seed_of(wrong)
