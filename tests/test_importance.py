"""Importance against its closed form and a double loop of single questions; shared runs; planted columns; bad input."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

import tamis
from planted import planted
from tamis.base.errors import RecipeError, TamisError
from tamis.base.shared_fit import Together, grouped
from tamis.classify import KNN, SVM
from tamis.compose.recipe import to_text
from tamis.incremental.elimination import eliminate
from tamis.select import Importance, Ranking
from tamis.select.importance import changed_predictions
from tamis.transform import Standardize

exact = partial(Importance, values=None, eliminate=False)


def problem(n_classes: int = 2, rows: int = 24, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns)).round(1) * (rng.random((rows, columns)) < 0.7)
    X[:, [1, 4]] += 1.5 * y[:, None]
    return X, y


def asked_one_by_one(fitted, method: str, X: np.ndarray, rows, values) -> np.ndarray:
    """The definition: each row with each value, a question each."""

    def answer(row):
        said = np.asarray(getattr(fitted, method)(row[None]))
        return (said[:, None] == fitted.classes_).astype(float) if method == "predict" else said.reshape(1, -1)

    found = np.zeros(X.shape[1])
    before = {i: answer(X[i]) for i in rows}
    for j in range(X.shape[1]):
        for i, k in product(rows, values):
            other = X[i].copy()
            other[j] = X[k, j]
            found[j] += np.abs(before[i] - answer(other)).mean()
    return found / (len(rows) * len(values))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_a_linear_decision_has_a_closed_form(form) -> None:
    X, y = problem(rows=60, columns=20)
    X[:, 7] = 3.25
    weights = np.abs(SVM().fit(form(X), y).coef_[0])
    expected = weights * np.abs(X[:, None] - X[None]).mean(axis=(0, 1))
    found = exact(SVM()).fit(form(X), y)
    np.testing.assert_allclose(found.importances_, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.scores_, found.importances_)
    assert found.importances_[7] == 0
    probable = LogisticRegression().fit(X, y)
    decided = exact(LogisticRegression(), of="decision").fit(form(X), y).importances_
    closed = np.abs(probable.coef_[0]) * np.abs(X[:, None] - X[None]).mean(axis=(0, 1))
    np.testing.assert_allclose(decided, closed, rtol=1e-6)


MODELS = [
    (GaussianNB(), "predict_proba"),
    (KNeighborsClassifier(3), "predict_proba"),
    (RidgeClassifier(), "decision_function"),
    (SVC(), "decision_function"),
    (SVC(decision_function_shape="ovo"), "decision_function"),
    (make_pipeline(Normalizer(), Ranking("cc", k=3), LogisticRegression()), "predict_proba"),
    (make_pipeline(StandardScaler(with_mean=False), PCA(2), GaussianNB()), "predict_proba"),
    (ExtraTreesClassifier(5, random_state=0), "predict_proba"),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("model", "method"), MODELS, ids=lambda one: type(one).__name__)
def test_any_model_is_asked_as_the_definition_says(model, method, n_classes) -> None:
    X, y = problem(n_classes, rows=10)
    found = exact(model).fit(X, y)
    everything = range(X.shape[0])
    expected = asked_one_by_one(clone(model).fit(X, y), method, X, everything, everything)
    np.testing.assert_allclose(found.importances_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("of", "method"), changed_predictions.METHODS.items())
def test_what_is_asked_can_be_chosen(of, method) -> None:
    X, y = problem(3)
    found = exact(LogisticRegression(), of=of).fit(X, y).importances_
    fitted = LogisticRegression().fit(X, y)
    everything = range(X.shape[0])
    np.testing.assert_allclose(found, asked_one_by_one(fitted, method, X, everything, everything), rtol=1e-9)


class Silent(ClassifierMixin, BaseEstimator):
    """Says a class, and nothing else; by the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_a_model_that_only_names_classes() -> None:
    X, y = np.array([[1.0, 5.0], [2.0, 6.0], [-1.0, 7.0], [3.0, 8.0]]), [0, 1, 0, 1]
    found = exact(Silent()).fit(X, y)
    # Three of four rows are above zero: of 16 pairs six lie on different sides.
    np.testing.assert_allclose(found.importances_, [6 / 16, 0.0])
    with pytest.raises(TamisError, match=r"importance: Silent\(\) has no predict_proba, which of='probability' needs"):
        exact(Silent(), of="probability").fit(X, y)


def test_samples_are_some_of_all_rows_and_values() -> None:
    X, y = problem(rows=30)
    X[:, 0] = np.arange(30)
    fitted = GaussianNB().fit(X, y)
    found = Importance(GaussianNB(), values=4, rows=7, eliminate=False, random_state=3).fit(X, y).importances_
    rng = np.random.default_rng(np.random.SeedSequence(3))
    rng.integers(2**31)
    rows, values = rng.permutation(30)[:7], rng.permutation(30)[:4]
    np.testing.assert_allclose(found, asked_one_by_one(fitted, "predict_proba", X, rows, values), rtol=1e-9)
    whole = exact(GaussianNB(), rows=30, random_state=1).fit(X, y).importances_
    np.testing.assert_allclose(whole, exact(GaussianNB()).fit(X, y).importances_, rtol=1e-12)
    sampled = Importance(GaussianNB(), values=99, rows=99, eliminate=False).fit(X, y).importances_
    np.testing.assert_allclose(sampled, whole, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_batches_of_any_size_say_the_same(form, size, monkeypatch) -> None:
    X, y = problem(3, rows=12)
    expected = exact(LogisticRegression()).fit(form(X), y).importances_
    monkeypatch.setattr(changed_predictions, "_ROWS", size)
    np.testing.assert_allclose(exact(LogisticRegression()).fit(form(X), y).importances_, expected, rtol=1e-9)
    monkeypatch.setattr(changed_predictions, "_CELLS", 12)
    np.testing.assert_allclose(exact(LogisticRegression()).fit(form(X), y).importances_, expected, rtol=1e-9)


class Counting(Silent):
    """Remembers how many rows it was asked about, and the most in one call."""

    asked: list[int]

    def fit(self, X, y):
        type(self).asked = []
        return super().fit(X, y)

    def predict(self, X):
        self.asked.append(X.shape[0])
        assert sp.issparse(X) == sp.issparse(self.form)
        return super().predict(X.toarray() if sp.issparse(X) else X)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_only_what_changes_is_asked(form, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((40, 100)) < 0.1).astype(float)
    monkeypatch.setattr(Counting, "form", form(X), raising=False)
    exact(Counting()).fit(form(X), np.arange(40) % 2)
    # Every row with the other of two values, not with 40 values; and the rows as they are for each block of columns.
    both = (X.min(axis=0) != X.max(axis=0)).sum()
    assert sum(Counting.asked) == 40 * both + 16 * 40
    assert max(Counting.asked) <= changed_predictions._ROWS


hnp_rows = hnp.arrays(np.float64, (8, 3), elements=st.sampled_from([0.0, 0.0, -0.0, 1.0, 2.5, -3.0, np.nan]))


@given(hnp_rows, st.sampled_from([sp.csr_array, sp.csr_matrix]))
@settings(max_examples=60)
def test_changed_rows_sparse_and_dense(X, form) -> None:
    columns = np.array([2, 0])
    changes = list(changed_predictions._all_changes(X, X[::2], columns))
    some = changed_predictions._joined(changes)
    dense = changed_predictions._change_dense(X, some)
    sparse = changed_predictions._change_sparse(form(X), some)
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.has_canonical_format
    assert isinstance(sparse, form)
    expected = 0
    for j, i, k in product(columns, range(8), range(0, 8, 2)):
        expected += not (X[i, j] == X[k, j] or (np.isnan(X[i, j]) and np.isnan(X[k, j])))
    assert some.counts.sum() == expected
    for row, i, j, value in zip(dense, some.rows, some.columns, some.values, strict=True):
        other = X[i].copy()
        other[j] = value
        np.testing.assert_array_equal(row, other)


def eliminated(X, y, k, step) -> list[int]:
    """Backward elimination, written out."""
    left = list(range(X.shape[1]))
    while len(left) > k:
        found = exact(make_pipeline(Standardize(), SVM()), 1).fit(X[:, left], y).importances_
        drop = step if isinstance(step, int) else max(1, int(step * len(left)))
        order = np.argsort(-found, kind="stable")
        left = sorted(left[j] for j in order[: max(k, len(left) - drop)])
    return left


@pytest.mark.parametrize("step", [1, 3, 0.3])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_elimination_is_the_loop_of_the_paper(step, k) -> None:
    X, y = problem(3, rows=45, columns=12)
    found = Importance(make_pipeline(Standardize(), SVM()), k, values=None, step=step).fit(X, y)
    assert found.get_support(indices=True).tolist() == eliminated(X, y, k, step)
    np.testing.assert_array_equal(np.sort(found.order_), np.arange(12))
    np.testing.assert_array_equal(found.scores_[found.order_], np.arange(12)[::-1])
    first = exact(make_pipeline(Standardize(), SVM())).fit(X, y)
    assert found.sizes_[0] == 12
    assert first.sizes_.tolist() == [12]
    gone = found.order_[-1]
    assert found.importances_[gone] == pytest.approx(first.importances_.min())


@given(
    st.integers(1, 12),
    st.one_of(st.integers(1, 5), st.sampled_from([0.1, 0.3, 0.9])),
    st.sets(st.integers(1, 12), min_size=1),
)
def test_one_path_serves_every_size(n_columns, step, sizes) -> None:
    worth = np.random.default_rng(n_columns).permutation(n_columns) + 1.0

    def weigh(columns):
        return np.roll(worth, columns.shape[0])[columns]

    sizes = {min(size, n_columns) for size in sizes}
    path = eliminate(weigh, n_columns, step, sizes)
    before: set[int] = set()
    for size in sorted(sizes):
        rounds, (order, weights) = path.down_to(size)
        (own, (own_order, own_weights)) = eliminate(weigh, n_columns, step, {size}).down_to(size)
        assert [one.size for one in rounds] == [one.size for one in own]
        np.testing.assert_array_equal(order, own_order)
        np.testing.assert_array_equal(weights, own_weights)
        assert sorted(order) == list(range(n_columns))
        assert before <= set(order[:size])
        before = set(order[:size])


@pytest.mark.parametrize("eliminate", [True, False])
def test_one_fit_serves_every_number_of_columns(eliminate) -> None:
    X, y = problem(rows=40, columns=12)
    make = partial(Importance, SVM(), eliminate=eliminate, random_state=0)
    (group,) = grouped([make(k=k) for k in (1, 5, 12, 20)] + [make(fraction=0.3), make()])
    together = list(Together(group.estimators, X, y))
    for one, found in zip(group.estimators, together, strict=True):
        own = clone(one).fit(X, y)
        np.testing.assert_array_equal(found.support_, own.support_)
        np.testing.assert_array_equal(found.order_, own.order_)
        np.testing.assert_array_equal(found.importances_, own.importances_)
        np.testing.assert_array_equal(found.sizes_, own.sizes_)
    assert [one.support_.sum() for one in together] == [1, 5, 12, 12, 4, 6]


def test_planted_columns_are_found() -> None:
    X, y = planted(rows=120)
    for model in (None, KNN(5), make_pipeline(StandardScaler(), SVC())):
        found = Importance(model, 2, values=10, rows=40, step=0.5, random_state=0).fit(X, y)
        assert found.get_support(indices=True).tolist() == [3, 8]


def test_an_interaction_is_found_by_a_model_that_sees_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X[:, 2] * X[:, 5] > 0).astype(int)
    found = Importance(SVC(), 2, values=10, rows=50, random_state=0).fit(X, y)
    assert found.get_support(indices=True).tolist() == [2, 5]
    net = MLPClassifier((10,), solver="lbfgs", alpha=1.0, tol=1e-2, max_iter=2000)
    found = Importance(net, 2, values=10, rows=50, step=2, random_state=0).fit(X, y)
    assert found.get_support(indices=True).tolist() == [2, 5]


def test_elimination_weighs_what_remains_anew() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 6))
    # Eight copies share what the first column says; once some have left, the others weigh more than column 0.
    X[:, 0] += 1.0 * y
    told = 1.6 * y + rng.normal(size=200)
    X = np.column_stack([X, *(told + 0.01 * rng.normal(size=200) for _ in range(8))])
    model = LogisticRegression(C=0.05)
    once = Importance(model, 1, values=None, eliminate=False).fit(X, y)
    again = Importance(model, 1, values=None, step=1).fit(X, y)
    assert once.order_[0] == 0
    assert again.order_[0] >= 6


def test_permuted_labels_favour_no_column() -> None:
    X, y = planted(rows=100, columns=10)
    found = np.zeros(10)
    for seed in range(30):
        labels = np.random.default_rng(seed).permutation(y)
        found += Importance(None, 2, values=5, rows=20, eliminate=False, random_state=seed).fit(X, labels).support_
    assert found.sum() == 60
    assert found.max() <= 14


def test_columns_may_move() -> None:
    X, y = problem(3, rows=40)
    order = np.array([3, 1, 5, 0, 2, 4])
    here = exact(KNN(3)).fit(X, y).importances_
    np.testing.assert_allclose(exact(KNN(3)).fit(X[:, order], y).importances_, here[order], rtol=1e-12)


def test_copies_share_alike_and_the_first_is_kept() -> None:
    X, y = problem(rows=40)
    X = np.column_stack([X[:, 1], X[:, 1], X[:, 0], X[:, 0]])
    found = exact(KNN(3), 1).fit(X, y)
    np.testing.assert_allclose(found.importances_[[0, 2]], found.importances_[[1, 3]])
    assert found.get_support(indices=True).tolist() == [0]


def test_missing_values_are_values_to_models_that_take_them() -> None:
    X, y = problem(rows=40)
    X[::3, 1] = np.nan
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, random_state=0)
    assert Importance(model, values=5, rows=5, random_state=0).fit(X, y).support_.sum() == 3
    fitted = clone(model).fit(X, y)
    asked, some = [0, 1], [3, 4]
    expected = asked_one_by_one(fitted, "predict_proba", X, asked, some)
    answers = changed_predictions.Predict(fitted, "probability")
    several = changed_predictions.mean_changes(answers, X[asked], X[some], np.arange(6))
    np.testing.assert_allclose(several, expected, atol=1e-12)
    assert several[1] > 0
    for refuses in (None, SVM()):
        with pytest.raises(ValueError, match="NaN"):
            exact(refuses).fit(X, y)


def test_seeds_decide() -> None:
    X, y = problem(rows=40)
    model = ExtraTreesClassifier(3)
    one, two, other = (Importance(model, values=5, random_state=s).fit(X, y).importances_ for s in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_small_numbers_of_rows_and_columns() -> None:
    assert Importance().fit([[0.0], [1.0]], ["a", "b"]).support_.tolist() == [True]
    found = Importance(SVM(), 2).fit([[0.0, 1.0, 2.0], [0.0, 2.0, 5.0]], ["a", "b"])
    assert found.get_support(indices=True).tolist() == [1, 2]
    nothing = Importance(k=2).fit(np.full((6, 4), 0.1), [0, 1] * 3)
    assert nothing.order_.tolist() == [0, 1, 2, 3]
    assert not nothing.importances_.any()


def test_many_columns_with_few_values() -> None:
    rng = np.random.default_rng(0)
    S = sp.random_array((30, 20_000), density=0.001, rng=rng, format="lil")
    y = np.arange(30) % 2
    S[y == 1, 77] = 1.0
    found = Importance(LogisticRegression(), 5, eliminate=False).fit(S.tocsr(), y)
    assert found.order_[0] == 77


def test_recipes() -> None:
    X, y = problem()
    for text in (
        "importance(svm(linear), k=5)",
        "importance",
        "importance(standardize | knn(3), fraction=0.1, values=none, rows=50, step=1) | svm",
        "importance(k=20, eliminate=false, of=decision)",
    ):
        assert to_text(tamis.recipe(text)) == text
    assert to_text(tamis.recipe("importance(svm, 5)")) == "importance(svm, k=5)"
    model = tamis.recipe("importance(svm, k=2, values=none)").fit(X, y)
    np.testing.assert_array_equal(model.support_, Importance(SVM(), 2, values=None).fit(X, y).support_)
    with pytest.raises(RecipeError, match="importance: estimator takes a recipe that ends in a classifier"):
        tamis.recipe("importance(20)")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": 5}, "'estimator' parameter"),
        ({"estimator": KMeans(2)}, r"importance: estimator must be a classifier; got KMeans\(n_clusters=2\)"),
        ({"estimator": LinearRegression(), "task": "classify"}, r"LinearRegression\(\) predicts numbers"),
        ({"k": 0}, "'k' parameter"),
        ({"k": 2, "fraction": 0.5}, "got k and fraction"),
        ({"values": 0}, "'values' parameter"),
        ({"rows": 0}, "'rows' parameter"),
        ({"step": 1.0}, "'step' parameter"),
        ({"of": "gini"}, "'of' parameter"),
        ({"estimator": KNN(3), "of": "decision"}, r"importance: KNN\(n_neighbors=3\) has no decision_function"),
    ],
)
def test_bad_parameters_are_refused(parameters, message) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        Importance(**parameters).fit(X, y)


class Broken(Silent):
    """Probabilities that are not numbers, for some rows."""

    def predict_proba(self, X):
        return np.where(X[:, :1] > X[0, 0], np.nan, [[0.5, 0.5]])


def test_bad_input_is_refused() -> None:
    X, y = problem()
    with pytest.raises(TamisError, match="at least 2 classes"):
        Importance().fit(X, np.zeros(len(y)))
    with pytest.raises(TamisError, match="importance: the model gives predictions that are not finite"):
        Importance(Broken()).fit(X, y)
    with pytest.raises(ValueError, match="could not convert string"):
        Importance().fit([["a", 1.0], ["b", 2.0]], [0, 1])
    for bad in (np.nan, np.inf):
        X[2, 3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            Importance().fit(X, y)
