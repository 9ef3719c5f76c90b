"""Scores of text against their models and plain NumPy, and the counts they share."""

from functools import reduce
from inspect import signature
from itertools import product
from operator import add
from weakref import ref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.integrate import quad
from scipy.special import gamma

from tamis import scores
from tamis.base.errors import DataError, TamisError
from tamis.compose.recipe import recipe, to_text
from tamis.contingency import class_counts
from tamis.contingency.class_counts import ClassCounts
from tamis.contingency.whole_numbers import Tabulated

TEXT = ["chi2", "count", "pip", "pipp", "bns", "odds", "wf", "kl", "ti", "tfv"]
AVERAGED = ["pip", "pipp", "bns", "odds", "wf"]
COUNTED = ["pipp", "kl", "ti", "tfv"]


@pytest.fixture(params=[2, 4], ids=["two classes", "four classes"])
def problem(request):
    """Word counts in classes of unequal size; the first words are typical of a class."""
    rng = np.random.default_rng(request.param)
    y = np.sort(rng.integers(0, request.param, 60) * rng.integers(0, 2, 60))
    y[: request.param] = np.arange(request.param)
    rate = 0.3 + 1.5 * (np.arange(9) % request.param == y[:, None]) * (np.arange(9) < 5)
    X = rng.poisson(rate).astype(float)
    assert ((X > 0).any(axis=0) & (X == 0).any(axis=0)).all()
    return X, y


def class_shares(y):
    return np.bincount(y) / y.size


def averaged(X, y, measure):
    """Mean over the classes of a measure of the rows inside and outside a class."""
    return sum(p * measure(X[y == k], X[y != k]) for k, p in enumerate(class_shares(y)))


def urn(column, a, b):
    """Likelihood of a column of zeros and ones, row by row: each row's rate is the mean of Beta given those before."""
    likelihood = 1.0
    for i, x in enumerate(column):
        one = (a + column[:i].sum()) / (a + b + i)
        likelihood *= one if x else 1.0 - one
    return likelihood


def posterior_of_all_models(X, y, k, class_prior, pooled_prior):
    """The paper's sum: posterior of every subset of the words, and for each word the sum over those that have it."""
    inside = y == k
    models = list(product([0, 1], repeat=X.shape[1]))
    likelihoods = np.ones(len(models))
    for number, included in enumerate(models):
        for word, x in zip(included, (X > 0).T, strict=True):
            dependent = urn(x[inside], *class_prior) * urn(x[~inside], *class_prior)
            likelihoods[number] *= dependent if word else urn(x, *pooled_prior)
    posterior = likelihoods / likelihoods.sum()
    return posterior @ np.array(models)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("priors", [((0.1, 1 / 25), (0.2, 2 / 25)), ((1.0, 2.0), (0.5, 3.0))], ids=["paper's", "other"])
def test_pip_is_the_sum_over_all_models(problem, d, priors):
    X, y = problem
    X, y = X[::3, :d], y[::3]
    (a, b), (c, e) = priors
    found = scores.pip.per_class(X, y, class_a=a, class_b=b, pooled_a=c, pooled_b=e)
    labels = np.unique(y)
    expected = np.array([posterior_of_all_models(X, y, k, *priors) for k in labels])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    share = [(y == k).mean() for k in labels]
    values = scores.pip(X, y, class_a=a, class_b=b, pooled_a=c, pooled_b=e)
    np.testing.assert_allclose(values, share @ expected, rtol=1e-10)
    if priors[0][0] == 0.1:
        np.testing.assert_array_equal(scores.pip(X, y), values)


def poisson_evidence(column, a, b):
    """Likelihood of counts, integrated over the rate with its gamma prior of shape a and scale b."""

    def rest(rate):
        # Without the factor rate^(a - 1) of the prior, which the rule of integration has.
        return np.exp(-rate / b) * np.prod(stats.poisson.pmf(column, rate))

    top = stats.gamma.isf(1e-16, column.sum() + a, scale=1.0 / (column.size + 1.0 / b))
    found = quad(rest, 0.0, top, weight="alg", wvar=(a - 1.0, 0.0), limit=200, epsabs=0.0)[0]
    return found / (gamma(a) * b**a)


@pytest.mark.parametrize("priors", [((0.1, 1 / 25), (0.2, 2 / 25)), ((1.5, 0.7), (0.8, 2.0))], ids=["paper's", "other"])
def test_pipp_integrates_over_the_rates(problem, priors):
    X, y = problem
    X, y = X[::3, :4], y[::3]
    (a, b), (c, e) = priors
    found = scores.pipp.per_class(X, y, class_a=a, class_b=b, pooled_a=c, pooled_b=e)
    for row, k in enumerate(np.unique(y)):
        for j, x in enumerate(X.T):
            dependent = poisson_evidence(x[y == k], a, b) * poisson_evidence(x[y != k], a, b)
            expected = dependent / (dependent + poisson_evidence(x, c, e))
            assert found[row, j] == pytest.approx(expected, rel=1e-6)
    values = scores.pipp(X, y, class_a=a, class_b=b, pooled_a=c, pooled_b=e)
    np.testing.assert_allclose(values, [(y == k).mean() for k in np.unique(y)] @ found)
    if priors[0][0] == 0.1:
        np.testing.assert_array_equal(scores.pipp(X, y), values)


def test_bns_is_a_distance_of_normal_quantiles(problem):
    def probit(rows):
        return stats.norm.ppf(np.clip((rows > 0).mean(axis=0), 0.0005, 0.9995))

    np.testing.assert_allclose(scores.bns(*problem), averaged(*problem, lambda a, b: abs(probit(a) - probit(b))))


def test_odds_are_those_of_presence_in_and_outside_a_class(problem):
    def odds(rows):
        return ((rows > 0).sum(axis=0) + 0.1) / ((rows == 0).sum(axis=0) + 0.1)

    np.testing.assert_allclose(scores.odds(*problem), averaged(*problem, lambda a, b: odds(a) / odds(b)))


def test_word_frequency_is_weighted_by_the_classes(problem):
    np.testing.assert_allclose(scores.wf(*problem), averaged(*problem, lambda a, _: (a > 0).sum(axis=0)))


@pytest.mark.parametrize("smoothing", [10.0, 0.5, 0.0])
def test_kl_is_the_divergence_of_a_row_of_the_smoothed_table_from_its_margin(problem, smoothing):
    X, y = problem
    table = np.array([X[y == k].sum(axis=0) for k in range(y.max() + 1)]) + smoothing
    margin = table.sum(axis=1) / table.sum()
    expected = [stats.entropy(column / column.sum(), margin) for column in table.T]
    np.testing.assert_allclose(scores.kl(X, y, smoothing=smoothing), expected)
    empty = np.column_stack([X, np.zeros((len(y), 3))])
    np.testing.assert_allclose(scores.kl(empty, y, smoothing=smoothing), [*expected, 0, 0, 0])


def test_mean_tfidf_and_variance_of_tf(problem):
    X, _ = problem
    tf = np.where(X > 0, 1 + np.log(np.where(X > 0, X, 1)), 0)
    np.testing.assert_allclose(scores.ti(X), (tf * np.log(len(X) / (X > 0).sum(axis=0))).mean(axis=0))
    np.testing.assert_allclose(scores.tfv(X), len(X) * tf.var(axis=0))


def test_tf_of_a_value_below_one_is_never_negative():
    X = np.array([[0.1], [0.0], [0.0], [1.0]])
    assert scores.ti(X)[0] == pytest.approx(np.log(4 / 2) / 4)
    assert scores.tfv(X)[0] == pytest.approx(1 - 1 / 4)


@pytest.mark.parametrize("name", [*AVERAGED, "chi2"])
def test_the_score_is_the_weighted_mean_of_the_values_of_each_class(problem, name):
    X, y = problem
    options = {"of": "presence"} if name == "chi2" else {}
    names = np.array(["d", "c", "b", "a"])[y]
    found = scores.get(name).per_class(X, names, **options)
    labels, sizes = np.unique(names, return_counts=True)
    assert found.shape == (len(labels), X.shape[1])
    np.testing.assert_allclose(scores.get(name)(X, y, **options), sizes @ found / sizes.sum())
    # The class that sorts first is the first row.
    alone = scores.get(name).per_class(X, names == labels[0], **options)[1]
    np.testing.assert_allclose(found[0], alone)


@pytest.mark.parametrize("name", ["kl", "ig", "ti", "cc"])
def test_scores_that_do_not_average_have_no_values_per_class(name, problem):
    with pytest.raises(TamisError, match=f"{name} has no values per class"):
        scores.get(name).per_class(*problem)


def test_p_values_of_presence_take_the_smallest_of_the_classes(problem):
    X, y = problem
    each = stats.chi2.sf(scores.chi2.per_class(X, y, of="presence").max(axis=0), 1)
    tests = 1 if y.max() == 1 else y.max() + 1
    np.testing.assert_allclose(scores.chi2.pvalues(X, y, of="presence"), np.minimum(tests * each, 1))


@st.composite
def count_tables(draw):
    n, p = draw(st.integers(6, 25)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n, p), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 7.0, np.nan])))
    y = draw(hnp.arrays(np.intp, n, elements=st.integers(0, 2)))
    y[:3] = [0, 1, 2]
    weight = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0])))
    weight[:3] = 1.0
    return X, y, weight


@pytest.mark.parametrize("name", TEXT)
@given(problem=count_tables())
@settings(max_examples=40)
def test_layouts_types_weights_and_parts_of_the_rows_agree(name, problem):
    X, y, weight = problem
    score = scores.get(name)
    options = [{}, {"of": "presence"}] if name == "chi2" else [{}]
    for chosen in options:
        expected = score(X, y, sample_weight=weight, **chosen)
        assert np.isfinite(expected).all()
        assert (expected >= 0).all()
        for form in (sp.csr_array, sp.csc_array, np.asfortranarray):
            found = score(form(X), y, sample_weight=weight, **chosen)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            single = score(form(X.astype(np.float32)), y, sample_weight=weight, **chosen)
            np.testing.assert_allclose(single, expected, rtol=1e-9, atol=1e-12)
        times = np.repeat(np.arange(len(y)), weight.astype(int))
        np.testing.assert_allclose(score(X[times], y[times], **chosen), expected, rtol=1e-9, atol=1e-12)
        for form in (np.asarray, sp.csr_array):
            parts = (slice(0, 4), slice(4, 5), slice(5, None))
            summed = reduce(add, (ClassCounts(form(X[r]), y[r], weight[r], n_classes=3) for r in parts))
            np.testing.assert_allclose(score.of(summed, **chosen).values, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", TEXT)
@given(problem=count_tables(), scale=st.sampled_from([0.3, 1.7]))
@settings(max_examples=25)
def test_weights_need_not_be_whole(name, problem, scale):
    X, y, weight = problem
    order = np.random.default_rng(0).permutation(len(y))
    score = scores.get(name)
    expected = score(X, y, sample_weight=scale * weight)
    assert np.isfinite(expected).all()
    found = score(sp.csc_array(X[order]), y[order], sample_weight=scale * weight[order])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", [*TEXT, "ig"])
def test_a_constant_column_scores_zero_however_it_is_weighted(name):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(40, 3.0), np.ones(40), np.zeros(40), np.full(40, np.nan)])
    X[::7, 1] = np.nan
    X[1:3] = 9.0
    weight = rng.random(40)
    weight[1:3] = 0.0
    found = scores.get(name)(X, rng.integers(0, 3, 40), sample_weight=weight)
    if name not in ("count", "wf", "chi2"):
        np.testing.assert_array_equal(found, 0.0)
    np.testing.assert_array_equal(found[2:], 0.0)


@pytest.mark.parametrize("name", ["pip", "pipp", "bns", "odds"])
def test_a_column_known_in_one_class_alone_tells_nothing(name):
    y = np.arange(30) % 3
    X = np.column_stack([np.where(y == 1, np.arange(30) % 2, np.nan), y == 1])
    for weight in (None, np.random.default_rng(0).random(30)):
        found = scores.get(name)(X, y, sample_weight=weight)
        assert found[0] == 0.0
        assert found[1] > 0.0


@pytest.mark.parametrize("name", COUNTED)
def test_negative_values_are_refused_where_counts_are_needed(name):
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        with pytest.raises(
            TamisError, match=rf"Negative values in data: {name} needs values of zero and above, got -2"
        ):
            scores.get(name)(form(np.array([[1.0, -2.0], [0.0, 1.0]])), [0, 1])


@pytest.mark.parametrize("name", [*TEXT, "ig"])
def test_infinity_is_named_by_its_column(name):
    X = np.ones((4, 3))
    X[1, 2] = np.inf
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        with pytest.raises(DataError, match="column 2"):
            scores.get(name)(form(X), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("name", "options"), [("pip", {"class_a": 0}), ("pipp", {"pooled_b": -1.0}), ("kl", {"smoothing": -0.1})]
)
def test_wrong_options_are_refused(name, options, problem):
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of {name}"):
        scores.get(name)(*problem, **options)


def test_options_are_part_of_recipes():
    text = "pip(50, pooled_a=0.5) | kl(20, smoothing=1.0) | nb(multinomial)"
    assert to_text(recipe(text)) == text


def test_many_scores_are_those_of_each_and_count_once(problem, monkeypatch):
    X, y = problem
    weight = np.arange(len(y)) % 3 + 0.5
    by = [*TEXT, ("chi2", {"of": "presence"}), ("kl", {"smoothing": 1.0}), "mi", "ig", "variance"]
    expected = []
    for one in by:
        name, options = (one, {}) if isinstance(one, str) else one
        expected.append(scores.get(name)(X, y, sample_weight=weight, **options))
    passes = []
    plain = class_counts.class_totals
    monkeypatch.setattr(class_counts, "class_totals", lambda *args, **given: passes.append(1) or plain(*args, **given))
    found = scores.many(sp.csr_array(X), y, by=by, sample_weight=weight)
    np.testing.assert_allclose(found, expected)
    # Presence and occurrences once for all; once more for ig, which may need the rows.
    assert len(passes) == 3


def test_many_scores_refuse_what_one_does(problem):
    X, y = problem
    np.testing.assert_array_equal(scores.many(X, by=["count", "ti"]), [scores.count(X), scores.ti(X)])
    with pytest.raises(TamisError, match="pip needs the target"):
        scores.many(X, by=["count", "pip"])
    with pytest.raises(TamisError, match="no score is called 'pips'"):
        scores.many(X, y, by=["pips"])
    with pytest.raises(TamisError, match="pip has no option 'of'"):
        scores.many(X, y, by=[("pip", {"of": "presence"})])
    with pytest.raises(TamisError, match="at least one score"):
        scores.many(X, y, by=[])
    with pytest.raises(TamisError, match="ssv is not a formula of a summary"):
        scores.ssv.of(ClassCounts(X, y))
    np.testing.assert_allclose(scores.many(X, y, by=["t", "variance"]), [scores.t(X, y), scores.variance(X)])
    np.testing.assert_array_equal(scores.many(X, y, by=["variance", "cc"])[1], scores.cc(X, y))
    halves = y + 0.5
    found = scores.many(X, halves, by=["variance", "cc", "f"])
    np.testing.assert_array_equal(found[1:], [scores.cc(X, halves), scores.f(X, halves)])


def test_a_signature_shows_what_a_user_passes():
    assert list(signature(scores.kl).parameters) == ["X", "y", "sample_weight", "smoothing"]
    assert list(signature(scores.count).parameters) == ["X", "y", "sample_weight"]


def test_a_sum_of_counts_does_not_hold_the_rows(problem):
    X, y = problem
    parts = [ClassCounts(X[rows].copy(), y[rows], n_classes=4) for rows in (slice(0, 30), slice(30, None))]
    held = [ref(part._X) for part in parts]
    summed = parts[0] + parts[1]
    del parts
    assert [one() for one in held] == [None, None]
    np.testing.assert_allclose(scores.tfv.of(summed).values, scores.tfv(X))


@pytest.mark.parametrize("name", [*TEXT, "ig"])
def test_counts_become_arrays_and_back(name, problem):
    X, y = problem
    score, y = scores.get(name), np.unique(y, return_inverse=True)[1]
    formula = score.formula_for({})
    first = formula.summary(X[:30], y[:30], None, n_classes=y.max() + 1)
    score.of(first)
    asked = first.kinds
    summed = first + formula.summary(X[30:], y[30:], None, n_classes=y.max() + 1)
    assert summed.kinds == asked != ()
    again = ClassCounts.of_arrays(summed.arrays())
    np.testing.assert_array_equal(score.of(again).values, score.of(summed).values)
    np.testing.assert_allclose(score.of(summed).values, score(X, y), rtol=1e-12)


@given(
    numbers=hnp.arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 1.0, 2.0, 11.0, 0.5, 1e9, -1.0, 1e150])),
    whole=st.booleans(),
)
def test_what_is_looked_up_is_what_is_computed(numbers, whole):
    numbers = np.clip(numbers, 0, 50).astype(np.int64) if whole else numbers
    square = Tabulated(np.square)
    for given_numbers in (numbers, numbers[::-1] * 2, numbers):
        np.testing.assert_array_equal(square(given_numbers), np.square(given_numbers.astype(np.float64)))


def test_topic_words_come_first():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = sp.csr_array(rng.poisson(0.02, (600, 300)) + rng.poisson(0.4, (600, 300)) * (np.arange(300) == 7 + y[:, None]))
    for name in ("pip", "pipp", "bns", "odds", "kl"):
        assert set(np.argsort(-scores.get(name)(X, y))[:3]) == {7, 8, 9}, name
