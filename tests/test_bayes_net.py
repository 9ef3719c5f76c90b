"""Bayesian networks as parts: predictions, relevance, warnings, model files, and how they are refused."""

import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

import tamis
from tamis.base.errors import TamisError
from tamis.bayes import drawn, estimator
from tamis.bayes.drawn import NotMixedWarning
from tamis.bayes.network import Network
from tamis.classify import BayesNet
from tamis.compose.model_file import card_of, load_model, save_model
from tamis.data.dataset import Dataset
from tamis.regress import BayesNetRegressor
from tamis.select import FromModel

#: Short chains need not meet here.
pytestmark = pytest.mark.filterwarnings("ignore::tamis.bayes.drawn.NotMixedWarning")

#: The sizes that most tests share, so that the sampler is compiled once.
SHORT = {"draws": 150, "warmup": 150, "chains": 2, "thin": 10, "leapfrog": 20, "random_state": 0}

#: For what does not depend on how long chains are.
SHORTEST = {**SHORT, "draws": 20, "warmup": 20}


def product(seed: int = 0, rows: int = 250, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Classes by the sign of a product of columns 1 and 4; the others are probes."""
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    return X, X[:, 1] * X[:, 4] > 0


@pytest.fixture(scope="module")
def fitted() -> BayesNet:
    X, y = product()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        return BayesNet(6, **SHORT).fit(X, y)


def test_it_finds_the_inputs_and_their_product(fitted) -> None:
    X, y = product(1)
    assert fitted.score(X, y) > 0.85
    assert set(np.argsort(-fitted.relevance_)[:2]) == {1, 4}
    assert fitted.relevance_[[1, 4]].min() > 3 * fitted.relevance_[[0, 2, 3, 5]].max()
    np.testing.assert_allclose(fitted.feature_importances_.sum(), 1.0)
    low, high = fitted.relevance_interval_
    assert (low <= fitted.relevance_).all()
    assert (fitted.relevance_ <= high).all()


def test_probabilities_are_the_average_over_the_draws(fitted) -> None:
    X, _ = product(2, rows=9)
    network = Network(6, (6,), 1, "logistic")
    shares = [expit(network.evaluate(one, X)[:, 0]) for one in fitted.weights_]
    assert len(shares) == 2 * 150 // 10
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], np.mean(shares, axis=0))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


def test_blocks_of_rows_change_nothing(fitted, monkeypatch) -> None:
    X, _ = product(2, rows=10)
    expected = fitted.predict_proba(X)
    monkeypatch.setattr(estimator, "_ROWS", 3)
    np.testing.assert_allclose(fitted.predict_proba(X), expected)
    np.testing.assert_allclose(fitted.predict_proba(sp.csr_array(X)), expected)


def test_diagnostics_have_a_value_for_each_quantity(fitted) -> None:
    assert len(fitted.followed_) == len(fitted.r_hat_) == len(fitted.ess_) == 21
    assert fitted.followed_[:2] == ["log posterior", "log likelihood"]
    assert fitted.followed_[-6:] == [f"log scale of x{j}" for j in range(6)]
    assert (fitted.ess_ <= 2 * 150 * np.log10(300)).all()
    assert 0.6 < fitted.acceptance_ <= 1.0


def test_probabilities_are_those_of_the_classes_where_there_is_noise() -> None:
    """Rows of one column with known log odds: the average is near the truth, and calibrated."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(250, 6))
    y = rng.random(250) < expit(1.5 * X[:, 0])
    model = BayesNet(6, **SHORT).fit(X, y)
    new = rng.normal(size=(2000, 6))
    assert np.abs(model.predict_proba(new)[:, 1] - expit(1.5 * new[:, 0])).mean() < 0.08


def test_three_classes() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 5))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    model = BayesNet(0, **SHORT).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.relevance_.argmax() == 2
    assert model.weights_.shape[1] == 5 * 3 + 3


def test_numbers() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(250, 4))
    y = 1e6 + 1e3 * (np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=250))
    model = BayesNetRegressor(5, **SHORT).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.95
    assert model.relevance_.argmax() == 2
    assert "log precision of the noise" in model.followed_


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_weight_is_so_many_rows_in_any_order(form) -> None:
    """To the last bit, for classes and numbers: equal rows are merged, and rows sorted."""
    X, y = product(rows=40)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, 40)
    repeated = rng.permutation(np.repeat(np.arange(40), weight))
    for model, target in ((BayesNet(6, **SHORTEST), y), (BayesNetRegressor(6, **SHORTEST), 50.0 + X[:, 1])):
        found = model.fit(form(X), target, sample_weight=weight).weights_
        np.testing.assert_array_equal(model.fit(form(X[repeated]), target[repeated]).weights_, found)
        assert (model.fit(form(X), target).weights_ != found).all()


def test_columns_of_a_group_share_their_precision() -> None:
    X, y = product()
    model = BayesNet(6, **SHORT, groups=["a", "b", "a", "a", "b", "a"]).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(model.relevance_[[1, 4]], model.relevance_[1])
    np.testing.assert_allclose(model.relevance_[[0, 2, 3, 5]], model.relevance_[0])
    assert model.relevance_[1] > 2 * model.relevance_[0]


def test_a_constant_column_has_no_relevance() -> None:
    X, y = product()
    X[:, 0] = 5.0
    model = BayesNet(6, **SHORTEST).fit(X, y)
    assert model.relevance_[0] == 0
    assert (model.relevance_[1:] > 0).all()


def test_it_selects_by_relevance() -> None:
    X, y = product()
    assert set(FromModel(BayesNet(6, **SHORT), 2).fit(X, y).get_support(indices=True)) == {1, 4}


def test_chains_that_have_not_met_warn() -> None:
    X, y = product()
    with pytest.warns(NotMixedWarning, match=r"not met \(R-hat .* raise draws and warmup"):
        BayesNet(6, **SHORTEST).fit(X, y)


def test_ctrl_c_leaves_no_model(monkeypatch) -> None:
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(drawn, "sample", stopped)
    model = BayesNet()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*product())
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hidden": [4, 3, 2]}, "hidden takes the number of units"),
        ({"hidden": ["a"]}, "hidden takes the number of units"),
        ({"hidden": [0, 3]}, "hidden takes the number of units"),
        ({"draws": 5, "thin": 10}, "thin=10 leaves none of draws=5"),
        ({"groups": [0, 1]}, "a label for each of the 6 columns"),
    ],
)
def test_bad_parameters_are_refused(given, message) -> None:
    with pytest.raises(TamisError, match=message):
        BayesNet(**given).fit(*product())


def test_tables_too_large_for_dense_arrays_are_refused() -> None:
    X = sp.csr_array((3000, 100_000))
    with pytest.raises(TamisError, match="3,000 rows of 100,000 columns would take 10 GB; select columns, or take pca"):
        BayesNet().fit(X, np.arange(3000) % 2)


@pytest.mark.parametrize("missing", ["jax", "blackjax"])
def test_without_the_extra_it_says_what_to_install(missing, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(TamisError, match=r'bayes_net needs .* pip install "tamis\[bayes\]"'):
        BayesNet(sampler="hmc" if missing == "jax" else "nuts").fit(*product())


def test_a_model_file_holds_draws_and_predicts_without_jax(tmp_path) -> None:
    X, y = product(2)
    path = tmp_path / "net.tamis"
    # As a member of an ensemble.
    text = "blend(standardize | bayes_net(6, draws=150, warmup=150, leapfrog=20, random_state=0), knn(3))"
    fitted = tamis.recipe(text).fit(X, y)
    save_model(path, fitted, card_of(fitted, Dataset.of(X, y)))
    again, _ = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(whole.open("model.skops")) as archive:
        arrays = [np.load(archive.open(name)) for name in archive.namelist() if name != "schema.json"]
    # Every tenth draw of each chain, in arrays that are read without pickle.
    assert (30, 6 * 6 + 6 + 6 + 1) in {one.shape for one in arrays}
    code = """
import sys
sys.modules["jax"] = sys.modules["blackjax"] = None
import numpy as np
from tamis.compose.model_file import load_model
X = np.random.default_rng(2).normal(size=(250, 6))
print(load_model(sys.argv[1])[0].predict_proba(X)[0, 0])
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(fitted.predict_proba(X)[0, 0])


def test_a_recipe_is_validated_as_a_whole() -> None:
    X, y = product(rows=310)
    text = "standardize | bayes_net(6, draws=150, warmup=150, leapfrog=20)"
    found = tamis.validate(text, X, y, folds=3, seed=0)
    assert found.estimates["ber"].mean < 0.2


@pytest.mark.slow
def test_the_search_blends_it() -> None:
    X, y = product(rows=120)
    only = ["standardize | bayes_net(6, draws=60, warmup=60, leapfrog=20)", "knn(3)"]
    found = tamis.mine(X, y, only=only, trials=3, seed=0, engine="serial", inner_folds=3)
    assert found.recipe_.startswith("blend(standardize | bayes_net(6")
    assert found.validation_.estimates["ber"].mean < 0.2
    assert found.predict_proba(X).shape == (120, 2)


def test_permuted_labels_give_chance() -> None:
    rng = np.random.default_rng(6)
    X, y = product(rows=250)
    model = BayesNet(6, **SHORT).fit(X, rng.permutation(y))
    new, truth = product(7, rows=1000)
    assert 0.4 < model.score(new, truth) < 0.6


def test_the_picture_has_a_point_and_an_interval_for_each_of_the_best(fitted) -> None:
    (points,) = fitted.plot(3).data
    np.testing.assert_allclose(points.x, np.sort(fitted.relevance_)[::-1][:3])
    np.testing.assert_allclose(
        points.x - points.error_x.arrayminus, fitted.relevance_interval_[0][[*np.argsort(-fitted.relevance_)[:3]]]
    )


@pytest.mark.slow
def test_nuts_predicts_like_hmc(fitted) -> None:
    X, y = product()
    other = BayesNet(6, **{**SHORT, "draws": 600, "warmup": 300}, sampler="nuts").fit(X, y)
    new, _ = product(8)
    assert np.abs(other.predict_proba(new) - fitted.predict_proba(new)).mean() < 0.06
