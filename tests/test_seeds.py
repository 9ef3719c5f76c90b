"""Seeds depend on the task's number, not on who asks first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis.base.seeds import generator, open_states, seeded, spawn
from tamis.select import FromModel, Repeat

numbers = st.integers(0, 2**31)


@given(numbers, st.lists(numbers, max_size=3), numbers)
def test_a_task_has_one_seed_and_its_neighbours_another(seed, task, other):
    assert spawn(seed, *task, other) == spawn(seed, *task, other)
    assert spawn(seed, *task, other) != spawn(seed, *task, other + 1)


def test_generators():
    assert generator(3).random() == generator(3).random() != generator(4).random()
    assert generator(3, 1).random() != generator(3, 2).random()
    assert generator(None).random() != generator(None).random()
    rng = np.random.default_rng(0)
    assert generator(rng) is rng
    assert generator(np.random.RandomState(1)).random() == generator(np.random.RandomState(1)).random()


def test_every_open_random_state_gets_a_seed_of_its_own():
    model = make_pipeline(BaggingClassifier(RandomForestClassifier()), RandomForestClassifier(random_state=7))
    found = seeded(model, 0).get_params()
    drawn = [found["baggingclassifier__random_state"], found["baggingclassifier__estimator__random_state"]]
    assert len(set(drawn)) == 2
    assert None not in drawn
    assert found["randomforestclassifier__random_state"] == 7
    assert seeded(model, 0).get_params()["baggingclassifier__random_state"] == drawn[0]


def test_the_own_state_stands_between_those_of_classifiers_and_of_selectors_inside():
    inner = make_pipeline(StandardScaler(), FromModel(RandomForestClassifier(), 2))
    assert [name for _, name in open_states(Repeat(inner))] == [
        "random_state",
        "estimator__frommodel__estimator__random_state",
        "estimator__frommodel__random_state",
    ]
