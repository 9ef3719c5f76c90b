"""The recipe language: text to estimator and back, and refusals that point at the place."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

import tamis
from tamis.base.errors import RecipeError, TamisError
from tamis.base.part import Part
from tamis.base.score import Score
from tamis.base.search_range import Choice, Range
from tamis.base.selector import Selection, Selector
from tamis.base.task import BOTH
from tamis.compose.catalog import _score_entry, catalog, entries, entry, register
from tamis.compose.chain import Call, Chain
from tamis.compose.recipe import completed, parse, recipe, to_text

CANONICAL = [
    "cc(700)",
    "cc(0.05)",
    "variance",
    "standardize | cc(700) | svm(gaussian, C=1000)",
    "rms_norm | fisher(4700) | svm(linear, C=inf)",
    "t(fdr=0.05, welch=true)",
    "chi2(50, of=presence) | knn(5)",
    "mi(50, bins=sigma, n_bins=2) | knn(5)",
    "mrmr(50, criterion=miq, include=[3, height]) | knn(5)",
    "with_probes(standardize | cc, fdr=0.2) | knn(5)",
    "count(threshold=11) | f(2000) | pca(2) | svm(gaussian, C=50, class_weight=balanced)",
    "cc(geom(50, 5000, 10)) | svm(linear, C={0.01, 1, 100})",
    "f(lin(0.1, 1.0, 4))",
    "knn(auto)",
    "vote(ssv(30), ssv_tree, standardize | cc(30), at_least=2) | knn(5)",
    "vote(vote(cc, f(3)), variance)",
    "repeat(ssv_tree, times=5, k=3)",
    "wrapper(standardize | knn(5), k=5, base=[0, 'gene 7']) | knn(5)",
    "committee(9, cc(8000) | svm(linear))",
    "committee(estimator=knn)",
]


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_text_prints_back_to_itself(text):
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", [t for t in CANONICAL if "geom" not in t and "lin(" not in t])
def test_an_estimator_prints_back_to_its_recipe(text):
    assert to_text(recipe(text)) == text


@pytest.mark.parametrize("text", [t for t in CANONICAL if "geom" not in t and "lin(" not in t])
def test_a_clone_prints_a_text_that_builds_its_equal(text):
    model = clone(recipe(text))
    assert repr(recipe(to_text(model))) == repr(model)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("cc( 700 )|svm( C = 10,kernel = linear )", "cc(700) | svm(linear, C=10)"),
        ("svm(linear, 10)", "svm(linear, C=10)"),
        ("svm('linear')", "svm(linear)"),
        ("cc(k=5)", "cc(5)"),
        ("cc(fraction=0.5)", "cc(0.5)"),
        ("t(fdr=+0.1)", "t(fdr=0.1)"),
        ("cc(5)\n  | svm(linear)", "cc(5) | svm(linear)"),
        ("count(threshold=-1e-3)", "count(threshold=-0.001)"),
        ("snb(loo=True)", "snb(loo=true)"),
        ("cc()", "cc"),
        ("vote(estimators=[cc(), f])", "vote(cc, f)"),
        ("committee(estimator=cc(5)|svm, cv=3)", "committee(3, cc(5) | svm)"),
        ("repeat(estimator=ssv_tree())", "repeat(ssv_tree)"),
    ],
)
def test_other_ways_of_writing_come_to_one_text(written, canonical):
    assert str(parse(written)) == canonical


def test_a_recipe_is_an_ordinary_estimator():
    model = tamis.recipe("standardize | cc(2) | svm(linear)")
    assert isinstance(model, Pipeline)
    assert list(model.named_steps) == ["standardize", "cc", "svm"]
    assert model.get_params()["cc__k"] == 2
    assert list(recipe("cc(9) | cc(5) | cc(2)").named_steps) == ["cc", "cc-2", "cc-3"]
    assert recipe("svm(linear, C=3)").C == 3


def test_sets_and_ranges_stand_for_many_recipes():
    many = parse("cc(geom(50, 5000, 3)) | svm({linear, gaussian}, C={1, 10})")
    found = [str(chain) for chain in many.variants()]
    assert len(found) == len(set(found)) == 12
    assert found[0] == "cc(50) | svm(linear, C=1)"
    assert found[-1] == "cc(5000) | svm(gaussian, C=10)"
    with pytest.raises(RecipeError, match="stands for 12 recipes"):
        many.build()


@pytest.mark.parametrize(
    ("text", "message", "pointed"),
    [
        ("cc(700) | swm(linear)", "no part is called 'swm'; did you mean 'svm'?", "swm"),
        ("cc(700, 800)", "cc takes one argument without a name", "800"),
        ("cc(k=0)", "cc: k takes a whole number of 1 or more, or none; got 0", "k=0"),
        ("cc(kk=3)", "cc has no parameter 'kk'; did you mean 'k'?", "kk=3"),
        ("fisher(fdr=0.1)", "fisher has no parameter 'fdr'; it takes: k, fraction, threshold, at_least", "fdr=0.1"),
        ("chi2(5, of=colour)", "chi2: of takes counts or presence; got 'colour'", "of=colour"),
        ("svm(linear) | cc(3)", "svm is a classifier: it can only come last in a chain", "svm(linear)"),
        ("cc(5, k=4)", "cc gets k twice", "k=4"),
        ("t(5, fdr=0.1)", "t takes one cut; got k and fdr", "t"),
        ("cc(1)(2)", "a part is a name, a name with arguments", "cc(1)(2)"),
        ("os.system('x')", "a part is a name, a name with arguments", "os.system('x')"),
        ("cc(lambda: 3)", "a value is a number", "lambda: 3"),
        ("cc(x[0])", "a value is a number", "x[0]"),
        ("cc(**k)", "cc has no parameter None", "**k"),
        ("cc(geom(0, 10))", "geom needs both ends above zero", "geom(0, 10)"),
        ("cc(geom(1))", "geom takes two numbers and how many values", "geom(1)"),
        ("cc(lin(1, inf))", "lin needs finite ends", "lin(1, inf)"),
        ("cc({5, 0})", "got 0", "{5, 0}"),
        ("é | cc(x)", "no part is called 'é'", "é"),
        ("cc([5])", "cc: k takes a whole number of 1 or more, or none; got [5]", "[5]"),
        ("vote(cc, swm)", "no part is called 'swm'; did you mean 'svm'?", "swm"),
        ("vote(cc, {f, 5})", "vote takes recipes here; got 5", "{f, 5}"),
        ("vote(cc, estimators=[f])", "vote gets estimators twice", "estimators=[f]"),
        ("vote(estimators=[f, 3])", "vote: estimators takes a list of recipes; got 3", "estimators=[f, 3]"),
        ("vote(estimators=f)", "vote: estimators takes a list of recipes; got f", "estimators=f"),
        ("wrapper(cc(5))", "wrapper: estimator takes a recipe that ends in a classifier, or none; got cc(5)", "cc(5)"),
        ("committee(5, {knn, cc})", "or none; got cc", "{knn, cc}"),
        ("repeat(knn | cc)", "knn is a classifier: it can only come last in a chain", "knn"),
    ],
)
def test_refusals_point_at_the_place(text, message, pointed):
    with pytest.raises(RecipeError) as refusal:
        parse(text)
    sentence, line, marks = str(refusal.value).split("\n")
    assert sentence.startswith(message) or message in sentence
    start = marks.index("^")
    assert line[start : start + marks.count("^")] == pointed


@pytest.mark.parametrize(
    "text", ["", "  ", "cc(", "cc | | cc", "(" * 500, "cc(1" + "+1" * 3000 + ")", "\x00", "cc(5j)", "1"]
)
def test_what_is_no_recipe_is_refused(text):
    with pytest.raises(RecipeError):
        parse(text)


@given(st.text(alphabet="abcsvm(){}[],|=.'\"0123456789 \t\n\\+-*:éx", max_size=40))
def test_no_text_gets_past_as_anything_but_a_recipe_or_a_refusal(text):
    try:
        chain = parse(text)
    except RecipeError:
        return
    assert parse(str(chain)) == chain


@st.composite
def chains(draw):
    """Chains drawn from the catalog's own search ranges, and the task they are for."""
    task = draw(st.sampled_from(BOTH))
    served = [part for part in entries() if task in part.tasks]
    front = [part for part in served if part.kind not in ("classifier", "regressor")]
    parts = [*draw(st.lists(st.sampled_from(front), max_size=3)), draw(st.sampled_from(served))]
    calls = []
    for part in parts:
        names = draw(st.sets(st.sampled_from(sorted(part.card.search)))) if part.card.search else set()
        values = {n: draw(st.sampled_from(part.card.search[n].values())) for n in names}
        calls.append(Call(part.name, tuple((n, values[n]) for n in part.parameters if n in names)))
    return Chain(tuple(calls)), task


@given(chains())
def test_every_chain_of_the_search_space_survives_printing(drawn):
    chain, task = drawn
    assert parse(str(chain)) == chain
    assert to_text(chain.build(task)) == str(chain)


def test_what_is_no_part_prints_as_python_shows_it():
    model = make_pipeline(recipe("cc(5)"), LogisticRegression(C=2.0))
    assert to_text(model) == "cc(5) | LogisticRegression(C=2.0)"


def test_missing_steps_are_put_in_front():
    chain = parse("cc(5) | svm(linear)")
    assert str(completed(chain, nominal=True, missing=True)) == "impute | encode | cc(5) | svm(linear)"
    assert completed(chain, nominal=False, missing=False) == chain
    assert str(completed(parse("encode(ordinal) | cc(5)"), nominal=True, missing=False)) == "encode(ordinal) | cc(5)"


class TakesRecipes(Selector):
    """A part that takes a number, one recipe, and any number of further recipes."""

    part: ClassVar[Part] = Part("takes_recipes", positional=("size", "first", "*rest"), paper="none")
    _parameter_constraints: ClassVar[dict] = {"size": [int], "first": [object], "rest": [list], "mode": [str]}

    def __init__(self, size=3, first=None, rest=(), *, mode="plain"):
        self.size = size
        self.first = first
        self.rest = rest
        self.mode = mode

    def _select(self, X, y):
        return Selection(X[0] == X[0], X[0])


@pytest.fixture
def with_own_part():
    known = dict(catalog())
    register(TakesRecipes, "selector")
    yield
    catalog().clear()
    catalog().update(known)


def test_recipes_inside_recipes(with_own_part):
    text = "takes_recipes(9, cc(80) | f(3), t(5), f(6), mode=fast) | svm(linear)"
    assert str(parse(text)) == text
    model = recipe(text)
    part = model.steps[0][1]
    assert to_text(part.first) == "cc(80) | f(3)"
    assert [to_text(r) for r in part.rest] == ["t(5)", "f(6)"]
    assert to_text(model) == text
    assert str(parse("takes_recipes(first=cc(5))")) == "takes_recipes(first=cc(5))"
    assert len(list(parse("takes_recipes({3, 9}, cc({5, 6}), t({1, 2}))").variants())) == 8


def test_bare_words_are_recipes_only_where_one_is_due():
    assert recipe("vote(cc, ssv_tree)").estimators[0].by == "cc"
    assert to_text(recipe("committee(3, knn)").estimator) == "knn"
    assert recipe("wrapper(knn, base=f)").base == "f"
    assert recipe("wrapper(none)").estimator is None
    assert [str(chain) for chain in parse("wrapper({knn, cc({5, 9}) | svm})").variants()] == [
        "wrapper(knn)",
        "wrapper(cc(5) | svm)",
        "wrapper(cc(9) | svm)",
    ]
    assert [str(chain) for chain in parse("vote({cc, f}, t(5))").variants()] == ["vote(cc, t(5))", "vote(f, t(5))"]


def test_an_absent_or_empty_list_of_members_is_written_by_name():
    for text in ("vote(estimators=none)", "vote(estimators=[])"):
        assert str(parse(text)) == text
        assert to_text(recipe(text)) == text


def test_names_are_unique(with_own_part):
    with pytest.raises(TamisError, match="two parts are called 'takes_recipes'"):
        register(TakesRecipes, "selector")
    with pytest.raises(TamisError, match="no part is called 'nothing'"):
        entry("nothing")


def test_ranges():
    assert Range("geom", 50, 5000, 3).values() == (50, 500, 5000)
    assert Range("geom", 1, 3, 9).values() == (1, 2, 3)
    assert Range("lin", 0.0, 1.0, 3).values() == (0.0, 0.5, 1.0)
    assert Choice((1, "a")).values() == (1, "a")


def test_an_option_of_a_score_may_not_have_the_name_of_a_parameter_of_the_ranking() -> None:
    def by_chance(X, y, sample_weight=None, *, by="chance"):
        return np.zeros(X.shape[1])

    with pytest.raises(TypeError, match="option by has the name of a parameter"):
        _score_entry(Score(Part("chance"), by_chance, constraints={"by": [str]}))


def test_parts_for_numbers_and_parts_for_classes_do_not_go_together() -> None:
    with pytest.raises(TamisError, match="line_bins is for a target of numbers, and logistic for one of classes: take"):
        parse("line_bins | logistic").build()
    with pytest.raises(TamisError, match="ridge is for a target of numbers, and ssv for one of classes"):
        parse("ssv(5) | committee(3, ridge)").build()
    assert parse("bin_means | sfs(ridge, k=2) | knn").task == "regress"
    assert parse("bin_means | logistic").task is None
