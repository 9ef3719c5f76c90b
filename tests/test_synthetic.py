"""The generators make what their recipes say, and the roles tell the truth."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.data.load import read as read_file
from tamis.data.synthetic import (
    GENERATORS,
    TEXT_GENERATORS,
    friedman,
    friedman_participation,
    madelon,
    messy,
    xor,
)
from tamis.data.synthetic.messy import MISSING
from tamis.data.write import write


def part(data: Dataset, *roles: str) -> np.ndarray:
    return data.X[:, np.isin(data.roles, roles)]


def corners(data: Dataset) -> np.ndarray:
    """The cluster of every row, read off the informative columns when the clusters lie far apart."""
    informative = part(data, "informative")
    middle = (informative.max(axis=0) + informative.min(axis=0)) / 2
    return (informative > middle) @ 2 ** np.arange(informative.shape[1])


def ber(model, data: Dataset, columns: np.ndarray, n_train: int) -> float:
    model = make_pipeline(StandardScaler(), model).fit(data.X[:n_train, columns], data.y[:n_train])
    return 1 - balanced_accuracy_score(data.y[n_train:], model.predict(data.X[n_train:, columns]))


# --- all of them


def test_generators_by_name():
    assert set(GENERATORS) == {"madelon-like", "madelon-fresh", "friedman", "xor", "infection"}
    assert {"messy": messy} == TEXT_GENERATORS


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_what_every_generator_promises(name):
    data = GENERATORS[name](n_rows=64, seed=3)
    assert data.name == name
    assert data.n_rows == 64
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    classes, names = [-1, 1], [f"f{i + 1}" for i in range(data.n_features)]
    if name == "infection":
        classes, names = ["infected", "mock"], ["time", *(f"g{i}" for i in range(1, data.n_features))]
    assert data.classes.tolist() == classes
    assert data.feature_names.tolist() == names
    assert set(data.roles) <= {"informative", "redundant", "repeated", "probe"}
    again, other = GENERATORS[name](n_rows=64, seed=3), GENERATORS[name](n_rows=64, seed=4)
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)
    np.testing.assert_array_equal(data.roles, again.roles)
    assert not np.array_equal(data.X, other.X)
    assert not np.array_equal(data.roles, other.roles)


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_columns_are_shuffled(name):
    real = np.mean([GENERATORS[name](n_rows=32, seed=seed).roles != "probe" for seed in range(40)], axis=0)
    first, second = np.array_split(real, 2)
    assert abs(first.mean() - second.mean()) < 0.1


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("madelon-like", {"n_rows": 31}, "n_rows must be at least 2 .. n_informative"),
        ("madelon-like", {"n_informative": 10**9}, "n_rows must be at least 2 .. n_informative"),
        ("madelon-like", {"n_rows": 2000.0}, "n_rows must be a whole number of 2 or more; got 2000.0"),
        ("madelon-like", {"n_informative": 0}, "n_informative must be a whole number of 1 or more; got 0"),
        ("madelon-like", {"n_probes": -1}, "n_probes must be a whole number of 0 or more; got -1"),
        ("madelon-like", {"class_sep": float("nan")}, "class_sep must be a finite number of 0 or more; got nan"),
        ("madelon-like", {"class_sep": float("inf")}, "class_sep must be a finite number"),
        ("madelon-like", {"flip": 0.5}, "flip must be a finite number of 0 or more and below 0.5; got 0.5"),
        ("madelon-like", {"seed": -1}, "seed must be a whole number of 0 or more; got -1"),
        ("friedman", {"n_rows": True}, "n_rows must be a whole number of 2 or more; got True"),
        ("friedman", {"n_inputs": 0}, "n_inputs"),
        ("friedman", {"n_functions": 0}, "n_functions"),
        ("friedman", {"mean_size": 0.5}, "mean_size must be a finite number of 1 or more; got 0.5"),
        ("friedman", {"noise": "much"}, "noise must be a finite number of 0 or more; got 'much'"),
        ("friedman", {"task": "ranking"}, "task must be 'classify' or 'regress'; got 'ranking'"),
        ("xor", {"n_interacting": 1}, "n_interacting must be a whole number of 2 or more; got 1"),
        ("xor", {"noise": 0.5}, "noise must be a finite number of 0 or more and below 0.5; got 0.5"),
        ("xor", {"n_rows": 1}, "n_rows"),
        ("infection", {"n_rows": 15}, "n_rows must be a whole number of 16 or more; got 15"),
        ("infection", {"n_genes": 100, "n_markers": 51}, "n_markers must be at most half of n_genes=100; got 51"),
        ("infection", {"noise": 1.0}, "noise must be a finite number of 0 or more and below 1; got 1.0"),
    ],
)
def test_bad_sizes(name, parameters, message):
    with pytest.raises(TamisError, match=message) as caught:
        GENERATORS[name](**parameters)
    assert "\n" not in str(caught.value)


# --- Madelon


def test_madelon_has_the_published_counts():
    data = madelon()
    roles, counts = np.unique(data.roles, return_counts=True)
    assert data.X.shape == (2000, 500)
    assert dict(zip(roles.tolist(), counts.tolist(), strict=True)) == {
        "informative": 5,
        "redundant": 5,
        "repeated": 10,
        "probe": 480,
    }


def test_madelon_clusters_sit_on_the_corners_sixteen_to_a_class():
    data = madelon(3200, class_sep=20.0, flip=0.0, seed=1)
    found = corners(data)
    assert np.bincount(found, minlength=32).tolist() == [100] * 32
    label = [set(data.y[found == corner].tolist()) for corner in range(32)]
    assert sorted(map(tuple, label)) == [(-1,)] * 16 + [(1,)] * 16
    # Which corners are of which class must not follow the order of the corners.
    assert label != sorted(label, key=lambda s: min(s))


def test_madelon_cube_side_and_spread_within_clusters():
    data = madelon(6400, class_sep=20.0, flip=0.0, seed=2)
    found, informative = corners(data), part(data, "informative")
    upper = np.array([[corner >> bit & 1 for bit in range(5)] for corner in range(32)], dtype=bool)
    centre = np.array([informative[found == corner].mean(axis=0) for corner in range(32)])
    side = np.array([centre[upper[:, j], j].mean() - centre[~upper[:, j], j].mean() for j in range(5)])
    scale = side / 40.0
    assert (scale > 0.99).all()
    assert (scale < 101).all()
    spread = np.array([informative[found == corner].var(axis=0) for corner in range(32)]) / scale**2
    # A standard normal row times a column of five U(-1, 1) numbers has variance 5/3 on average over columns.
    assert abs(spread.mean() - 5 / 3) < 0.25
    assert spread.std() > 0.3


def test_madelon_rows_that_do_not_divide_evenly_stay_balanced():
    data = madelon(75, class_sep=20.0, flip=0.0, n_probes=3)
    counts = np.bincount(corners(data), minlength=32)
    assert set(counts.tolist()) == {2, 3}
    assert abs(int(data.y.sum())) == 1


def test_madelon_flips_exactly_the_share_of_labels():
    data = madelon(3200, class_sep=20.0, flip=0.03, seed=5)
    found = corners(data)
    wrong = sum(min((data.y[found == corner] > 0).sum(), (data.y[found == corner] < 0).sum()) for corner in range(32))
    assert wrong == 96


def test_madelon_redundant_columns_are_linear_in_the_informative_ones():
    data = madelon(seed=6)
    base = np.column_stack([part(data, "informative"), np.ones(2000)])
    target = part(data, "redundant")
    rest = target - base @ np.linalg.lstsq(base, target, rcond=None)[0]
    assert (rest.var(axis=0) < 0.01 * target.var(axis=0)).all()
    probes = part(data, "probe")
    rest = probes - base @ np.linalg.lstsq(base, probes, rcond=None)[0]
    assert (rest.var(axis=0) > 0.95 * probes.var(axis=0)).all()


def test_madelon_repeats_show_what_they_repeat():
    data = madelon(seed=7)
    repeated, original = part(data, "repeated"), part(data, "informative", "redundant")
    together = np.corrcoef(repeated.T, original.T)[:10, 10:]
    assert (together.max(axis=1) > 0.99).all()


def test_madelon_probes_are_normal_and_unrelated_to_each_other_and_the_class():
    data = madelon(seed=8)
    probes = StandardScaler().fit_transform(part(data, "probe"))
    assert stats.kstest(probes.ravel(), "norm").statistic < 0.005
    related = np.abs(np.corrcoef(probes.T, data.y))
    np.fill_diagonal(related, 0.0)
    assert related.max() < 6 / np.sqrt(2000)


def test_madelon_features_differ_in_place_and_scale():
    X = madelon(seed=9).X
    assert X.std(axis=0).max() > 20 * X.std(axis=0).min()
    assert np.ptp(X.mean(axis=0) / X.std(axis=0)) > 1


@pytest.mark.parametrize("seed", [0, 1])
def test_madelon_is_as_hard_as_published(seed):
    data = madelon(3000, seed=seed)
    real = np.flatnonzero(data.roles != "probe")
    for model in (SVC(C=10.0, gamma=0.05), KNeighborsClassifier(9)):
        assert 0.06 < ber(model, data, real, 2000) < 0.13
    assert 0.33 < ber(KNeighborsClassifier(9), data, np.arange(500), 2000) < 0.52


def test_madelon_problem_does_not_depend_on_the_number_of_rows():
    small, large = madelon(1000, seed=4, n_probes=5), madelon(1500, seed=4, n_probes=5)
    np.testing.assert_array_equal(small.roles, large.roles)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(9)).fit(small.X, small.y)
    assert model.score(large.X, large.y) > 0.8


def test_madelon_rows_are_in_random_order():
    data = madelon(2048, class_sep=20.0, n_probes=0)
    assert abs(np.corrcoef(data.y[1:], data.y[:-1])[0, 1]) < 0.1
    found = corners(data)
    halves = [np.bincount(half, minlength=32) for half in np.array_split(found, 2)]
    assert len(set(halves[0].tolist())) > 3
    assert (halves[0] > 0).all()


def test_madelon_of_other_sizes():
    data = madelon(50, n_informative=1, n_redundant=0, n_repeated=0, n_probes=0)
    assert data.X.shape == (50, 1)
    assert madelon(np.int64(64)).n_rows == 64


# --- Friedman


def quadratic(Z: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    pairs = [(i, j) for i in range(Z.shape[1]) for j in range(i, Z.shape[1])]
    return np.column_stack([Z[:, i] * Z[:, j] for i, j in pairs] + [Z, np.ones(len(Z))]), pairs


@pytest.mark.parametrize("seed", range(12))
def test_friedman_function_is_a_gaussian_bump_of_its_inputs(seed):
    # The logarithm of one bump is a quadratic form of the inputs in it and of nothing else; its coefficients give
    # back the matrix, whose eigenvalues and peak are known by range.
    settings = {"n_inputs": 4, "n_probes": 2, "n_functions": 1, "seed": seed}
    data = friedman(200, task="regress", **settings)
    used = friedman_participation(**settings) == 1
    assert (data.roles[used] == "informative").all()
    assert (data.roles[~used] == "probe").all()
    assert len(set(np.sign(data.y))) == 1
    Z = data.X[:, used]
    design, pairs = quadratic(Z)
    keep = np.abs(data.y) > 1e-200
    log = np.log(np.abs(data.y[keep]))
    coefficients = np.linalg.lstsq(design[keep], log, rcond=None)[0]
    np.testing.assert_allclose(design[keep] @ coefficients, log, atol=1e-8)
    d = Z.shape[1]
    V = np.zeros((d, d))
    for (i, j), value in zip(pairs, coefficients, strict=False):
        V[i, j] -= value
        V[j, i] -= value
    roots = np.sqrt(np.linalg.eigvalsh(V))
    assert (roots > 0.1 - 1e-6).all()
    assert (roots < 2.0 + 1e-6).all()
    slope, constant = coefficients[len(pairs) : -1], coefficients[-1]
    peak = constant + slope @ np.linalg.solve(V, slope) / 2
    assert np.exp(peak) < 1.0 + 1e-6


def test_friedman_sizes_of_subsets():
    # P(size >= k) = exp(-(k - 1.5) / 3) for k = 2 .. 10, the exponential having mean mean_size - 1 = 3.
    expected = 1 + np.exp(-(np.arange(2, 11) - 1.5) / 3).sum()
    found = np.mean([friedman_participation(seed=seed).sum() for seed in range(150)])
    assert abs(found - expected) < 0.2
    assert 3.5 < expected < 4.5


def test_friedman_roles_follow_participation():
    for seed in range(5):
        settings = {"n_inputs": 6, "n_probes": 9, "n_functions": 3, "mean_size": 1.5, "seed": seed}
        share = friedman_participation(**settings)
        data = friedman(10, **settings)
        np.testing.assert_array_equal(share > 0, data.roles == "informative")
        assert data.n_features == 15
        assert (share > 0).sum() <= 6
        np.testing.assert_allclose(share * 3, np.rint(share * 3))


def test_friedman_defaults_are_those_of_the_workshop_paper():
    data = friedman()
    assert data.X.shape == (500, 20)
    assert (data.roles == "informative").sum() == 10
    assert stats.kstest(data.X.ravel(), "norm").pvalue > 0.001
    assert data.y.sum() == 0


def test_friedman_classes_are_the_target_cut_at_its_median():
    target, classes = friedman(301, task="regress", seed=2), friedman(301, seed=2)
    assert target.y.dtype == np.float64
    assert target.target != classes.target
    np.testing.assert_array_equal(classes.X, target.X)
    np.testing.assert_array_equal(classes.y, np.where(target.y > np.median(target.y), 1, -1))


def test_friedman_noise_is_relative_to_the_target():
    clean, noisy = (friedman(4000, task="regress", noise=noise, seed=3) for noise in (0.0, 0.5))
    ratio = (noisy.y - clean.y).std() / clean.y.std()
    assert abs(ratio - 0.5) < 0.03


def test_friedman_problem_does_not_depend_on_the_number_of_rows():
    few, many = (friedman(n, task="regress", seed=4) for n in (50, 200))
    np.testing.assert_array_equal(few.X, many.X[:50])
    np.testing.assert_allclose(few.y, many.y[:50])
    np.testing.assert_array_equal(few.roles, many.roles)


# --- XOR


@pytest.mark.parametrize("n_interacting", [2, 3, 5])
def test_xor_is_parity(n_interacting):
    data = xor(400, n_interacting=n_interacting, noise=0.1, seed=n_interacting)
    assert data.n_features == n_interacting + 48
    negative = (part(data, "informative") < 0).sum(axis=1)
    parity = np.where((n_interacting - negative) % 2 == 1, 1, -1)
    assert (parity != data.y).sum() == 40


def test_xor_every_incomplete_subset_is_useless():
    data = xor(20_000, n_interacting=3, n_probes=2, noise=0.0)
    signs = np.sign(part(data, "informative"))
    for subset in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        assert abs(np.corrcoef(signs[:, subset].prod(axis=1), data.y)[0, 1]) < 5 / np.sqrt(20_000)
    assert abs(np.corrcoef(signs.prod(axis=1), data.y)[0, 1]) == pytest.approx(1.0)


# --- messy


def test_messy_is_read_back_as_it_was_meant(tmp_path):
    made = messy(seed=2)
    write(made, tmp_path / "messy.csv")
    read = read_file(tmp_path / "messy.csv", "outcome")
    assert read.y.tolist() == made.y.tolist()
    assert read.feature_names.tolist() == made.feature_names.tolist()
    words = ["patient_id", "visit_date", "admitted", "site", "therapy", "ward", "smoker", "unit", "sex", "comment"]
    assert read.feature_names[read.nominal].tolist() == words
    texts = made.X.unpivot()["value"]
    assert set(MISSING) <= set(texts)
    assert read.n_missing == texts.is_in(MISSING).sum() > 100
    laboratory = made.X["lab_01"].to_list()
    assert read.X["lab_01"].to_list() == [None if text in MISSING else float(text) for text in laboratory]


def test_messy_holds_what_it_promises():
    made, other = messy(), messy(seed=1)
    assert made.X.shape == (300, 60)
    assert {word: (made.y == word).sum() for word in made.classes}["worse"] == 10
    assert {role: (made.roles == role).sum() for role in np.unique(made.roles)} == {
        "informative": 7,
        "redundant": 3,
        "repeated": 1,
        "probe": 49,
    }
    assert made.X["patient_id"].n_unique() == 300
    assert made.X["unit"].n_unique() == 1
    repeated = made.feature_names[made.roles == "repeated"][0]
    equal = [name for name in made.feature_names if made.X[name].equals(made.X[repeated], check_names=False)]
    assert len(equal) == 2
    assert made.roles[np.isin(made.feature_names, equal)].tolist() in (
        ["informative", "repeated"],
        ["repeated", "informative"],
    )
    assert made.X.equals(messy().X)
    assert not made.X.equals(other.X)
    with pytest.raises(TamisError, match="n_rows"):
        messy(2)


def test_messy_informs_about_its_class(tmp_path):
    write(messy(2000), tmp_path / "messy.csv")
    data, roles = read_file(tmp_path / "messy.csv", "outcome"), messy(2000).roles
    rows = data.y != "worse"

    def separation(name):
        values = data.X[name].to_numpy()[rows]
        known = ~np.isnan(values)
        return stats.ttest_ind(*(values[known & (data.y[rows] == word)] for word in ("improved", "stable"))).pvalue

    numeric = [name for name, nominal in zip(data.feature_names, data.nominal, strict=True) if not nominal]
    found = {name: separation(name) for name in numeric}
    role = dict(zip(data.feature_names, roles, strict=True))
    assert all(found[name] < 1e-6 for name in numeric if role[name] == "informative")
    assert np.mean([found[name] < 0.05 for name in numeric if role[name] == "probe"]) < 0.2
