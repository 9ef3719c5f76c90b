"""Nested validation is at chance on pure noise, whatever selects: nothing leaks from the choice into the figure."""

import numpy as np
import pytest

from noise import nested_accuracy, selectors


# On noise nothing passes, which is what some selectors warn of.
@pytest.mark.filterwarnings("ignore::tamis.base.cut.NothingPasses")
@pytest.mark.slow
@pytest.mark.parametrize("selector", list(selectors().values()), ids=list(selectors()))
def test_nested_accuracy_on_noise_is_a_half(selector: str) -> None:
    np.testing.assert_allclose(nested_accuracy(selector), 0.5, atol=0.03)
