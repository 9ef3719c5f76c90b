"""What a search offers, how far an estimate shrinks, and the honest error by the bootstrap."""

from dataclasses import replace

import numpy as np
import pytest

from tamis.mining.bootstrap_estimate import bootstrap_estimates
from tamis.mining.library import ClassLibrary
from tamis.mining.offers import ClassChooser, Wishes
from tamis.mining.shrinkage import shrunk
from tamis.validation.metrics import all_metrics

BER = all_metrics["ber"]


def made(accuracy: np.ndarray, sizes: np.ndarray | None = None, n_rows: int = 120, seed: int = 0) -> ClassLibrary:
    """A library of models that are right that often, in five folds."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_rows) % 2)
    right = rng.random((accuracy.size, n_rows)) < accuracy[:, None]
    labels = np.where(right, truth, 1 - truth)
    sure = rng.uniform(0.6, 0.95, labels.shape)
    second = np.where(labels == 1, sure, 1 - sure)
    sizes = np.full(accuracy.size, 10.0) if sizes is None else sizes
    return ClassLibrary(
        recipes=tuple(f"cc({i + 1}) | knn(3)" for i in range(accuracy.size)),
        families=tuple(i % 3 for i in range(accuracy.size)),
        probabilities=np.stack([1 - second, second], axis=2),
        labels=labels,
        graded=np.ones(accuracy.size, dtype=bool),
        sizes=sizes,
        seconds=np.ones(accuracy.size),
        columns=tuple(tuple(np.arange(int(size)) + 100 * i for _ in range(5)) for i, size in enumerate(sizes)),
        n_features=1000,
        truth=truth,
        split=np.arange(n_rows) % 5,
        repeat=np.zeros(n_rows, dtype=np.intp),
        unit=np.arange(n_rows),
        stratum=truth,
    )


def test_the_best_single_model_is_the_one_that_is_right_most_often() -> None:
    known = made(np.array([0.6, 0.7, 0.95, 0.6, 0.65]))
    found = ClassChooser(known, BER).choose()
    assert found.single == 2
    assert found.text("single") == known.recipes[2]
    assert found.text("best").startswith("blend(")


def test_the_small_model_has_the_fewest_columns_within_a_standard_error() -> None:
    known = made(np.array([0.9, 0.89, 0.6]), np.array([40.0, 4.0, 1.0]), n_rows=400)
    found = ClassChooser(known, BER).choose()
    assert found.small == 1
    assert ClassChooser(known, BER, Wishes(rule="cautious")).choose().small == 1


@pytest.mark.parametrize("rule", ["best", "cautious", "simplest"])
def test_the_rules_of_the_papers_still_choose(rule) -> None:
    known = made(np.array([0.6, 0.95, 0.7]))
    assert ClassChooser(known, BER, Wishes(rule=rule)).choose().single == 1


def test_no_offer_has_more_columns_than_allowed() -> None:
    known = made(np.array([0.95, 0.9, 0.88, 0.86]), np.array([50.0, 6.0, 5.0, 5.0]))
    found = ClassChooser(known, BER, Wishes(max_features=11)).choose()
    assert found.single != 0
    assert found.ensemble is not None
    assert known.union_size(found.ensemble.members) <= 11
    assert ClassChooser(known, BER, Wishes(max_features=1)).choose().single in (2, 3)


def test_an_ensemble_does_not_undo_the_selection() -> None:
    known = made(np.array([0.93, 0.9, 0.85, 0.9]), np.array([10.0, 11.0, 900.0, 12.0]))
    found = ClassChooser(known, BER).choose()
    assert found.ensemble is not None
    assert 2 not in found.ensemble.members


def test_useless_columns_do_not_come_in_with_a_member_that_a_smaller_one_surpasses() -> None:
    known = made(np.array([0.92, 0.9, 0.85, 0.6]), np.array([10.0, 10.0, 9.0, 10.0]), n_rows=600)
    wider = replace(known, sizes=np.array([10.0, 12.0, 9.0, 10.0]), families=("a", "a", "b", "b"))
    for library, inside in ((known, True), (wider, False)):
        ensemble = ClassChooser(library, BER).choose().ensemble
        assert ensemble is not None
        assert (1 in ensemble.members) == inside


def test_offers_that_cannot_be_fitted_in_time_are_not_made() -> None:
    known = replace(made(np.array([0.95, 0.9, 0.9, 0.9])), seconds=np.array([100.0, 1.0, 1.0, 1.0]))
    found = ClassChooser(known, BER, seconds=2.0).choose()
    assert found.single != 0
    assert found.ensemble is not None
    assert known.seconds[found.ensemble.members].sum() <= 2.0


def test_one_model_is_no_ensemble() -> None:
    found = ClassChooser(made(np.array([0.8])), BER).choose()
    assert found.ensemble is None
    assert found.text("best") == found.text("single") == found.text("small")


def test_a_lucky_model_of_a_poor_family_does_not_win() -> None:
    """Twenty equal models of noise and one good one: the best of the twenty leads by luck, until it is shrunk."""
    rng = np.random.default_rng(0)
    row = rng.normal(size=60)
    poor = 1.0 + row + rng.normal(size=(20, 60))
    good = np.full((3, 60), 0.85) + row + 0.1 * rng.normal(size=(3, 60))
    losses = np.vstack([poor, good])
    families = ["poor"] * 20 + ["good"] * 3
    assert losses.mean(axis=1).argmin() < 20
    assert shrunk(losses, np.ones(60), families).argmin() >= 20


def test_shrinkage_by_hand() -> None:
    """Against the formula for one family of equal noise; without noise nothing moves."""
    losses = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 6.0]])
    found = shrunk(losses, np.ones(2), ["f"] * 3)
    means = losses.mean(axis=1)
    apart = losses - means[:, None] - (losses.mean(axis=0) - means.mean())
    noise = (apart**2).sum(axis=1) / 4
    spread = max(0.0, means.var(ddof=1) - noise.mean())
    np.testing.assert_allclose(found, means.mean() + (means - means.mean()) * spread / (spread + noise))
    still = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    np.testing.assert_allclose(shrunk(still, np.ones(2), ["f"] * 3), still.mean(axis=1))


def test_models_without_skill_have_an_honest_error_of_one_half() -> None:
    """The folds promise less for the best of many; the bootstrap does not."""
    inner, honest = [], []
    for seed in range(6):
        known = made(np.full(30, 0.5), n_rows=60, seed=seed)
        chooser = ClassChooser(known, BER)
        errors = 1 - (known.labels == known.truth).mean(axis=1)
        inner.append(errors.min())
        honest.append(bootstrap_estimates(chooser, [BER], ["best", "single"], seed=seed))
    assert np.mean(inner) < 0.41
    for offer in ("best", "single"):
        assert abs(np.mean([one[offer]["ber"].mean for one in honest]) - 0.5) < 0.03


def test_one_good_model_has_its_own_error() -> None:
    known = made(np.array([0.9, 0.55, 0.5]), n_rows=300)
    found = bootstrap_estimates(ClassChooser(known, BER), [BER, all_metrics["auc"]], ["single"], seed=0)["single"]
    truth = known.predictions(0, np.arange(300))
    assert abs(found["ber"].mean - BER(truth)) < 0.01
    assert 0.01 < found["ber"].se < 0.05
    assert found["auc"].mean > 0.9


def test_the_seed_decides_the_samples() -> None:
    chooser = ClassChooser(made(np.array([0.8, 0.7, 0.75])), BER)
    first = bootstrap_estimates(chooser, [BER], ["best"], seed=1)
    assert first == bootstrap_estimates(chooser, [BER], ["best"], seed=1)
    assert first != bootstrap_estimates(chooser, [BER], ["best"], seed=2)


def test_rows_of_a_group_are_drawn_together() -> None:
    """Two copies of every row: as units of their own they would be inside and outside of a sample at once."""
    known = made(np.full(40, 0.5), n_rows=60)
    twice = np.tile(np.arange(60), 2)
    copies = replace(
        known,
        probabilities=known.probabilities[:, twice],
        labels=known.labels[:, twice],
        truth=known.truth[twice],
        split=known.split[twice],
        repeat=np.repeat([0, 1], 60),
    )
    together = replace(copies, unit=twice)
    apart = replace(copies, unit=np.arange(120), stratum=copies.truth)
    fooled, honest = (
        bootstrap_estimates(ClassChooser(one, BER), [BER], ["single"], seed=0)["single"]["ber"].mean
        for one in (apart, together)
    )
    assert fooled < honest - 0.02
