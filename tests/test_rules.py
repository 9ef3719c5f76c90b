"""Rules read literally: what is printed is parsed here and sent over the training rows."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from tamis.classify import SSVTree
from tamis.trees.rules import Condition, Rule, few_digits, number

LEVELS = ["red", "dark blue", "it's, {odd}", ""]


def meets(text, row):
    """Whether a row (a dict) meets one printed condition."""
    if asked := re.fullmatch(r"(.+) is (not )?missing", text):
        return (row[asked[1]] is None) != bool(asked[2])
    missing = text.endswith(" or missing)")
    text = text[1 : -len(" or missing)")] if missing else text
    if interval := re.fullmatch(r"(\S+) <= (.+) < (\S+)", text):
        low, name, high = interval.groups()
        return missing if row[name] is None else float(low) <= row[name] < float(high)
    name, sign, value = re.fullmatch(r"(.+?) (<|>=|in|not in) (.+)", text).groups()
    if row[name] is None:
        return missing
    if sign in ("in", "not in"):
        # Braces and quotes as in Python, but plain words go without quotes.
        words = re.findall(r"'([^']*)'|\"([^\"]*)\"|([^\s,'\"][^,'\"]*)", value[1:-1])
        levels = ["".join(word) for word in words]
        return (row[name] in levels) == (sign == "in")
    return row[name] < float(value) if sign == "<" else row[name] >= float(value)


def literally(rules, row):
    """The numbers of the printed rules that a row meets, and their answers."""
    found = []
    for place, rule in enumerate(rules):
        asked, answer = re.fullmatch(r"IF (.+) THEN (.+)  \(.+\)", str(rule)).groups()
        if asked == "true" or all(meets(condition, row) for condition in asked.split(" AND ")):
            found.append((place, answer))
    return found


def left_to_right(tree):
    """The leaves in the order of the rules."""
    stack, found = [0], []
    while stack:
        node = stack.pop()
        if tree.feature[node] < 0:
            found.append(node)
        else:
            stack += [tree.right[node], tree.left[node]]
    return found


@st.composite
def tables(draw):
    n = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    holes = draw(st.sampled_from([0.0, 0.3]))
    digits = draw(st.sampled_from([0, 1, 15]))
    frame = {
        "size": rng.normal(size=n).round(digits) + 0.0,
        "weight of it": (1e-9 * rng.random(n)) if draw(st.booleans()) else rng.integers(-3, 4, n) * 1e6,
        "colour": [LEVELS[i] for i in rng.integers(0, 4, n)],
    }
    rows = [dict(zip(frame, values, strict=True)) for values in zip(*frame.values(), strict=True)]
    rows = [{k: None if rng.random() < holes else v for k, v in row.items()} for row in rows]
    y = np.array(["a", "b", "c d"])[rng.integers(0, draw(st.integers(2, 3)), n)]
    return rows, y


@given(tables(), st.sampled_from([None, 0, 1]), st.sampled_from(["ssv", "balanced_error"]))
def test_printed_rules_send_every_training_row_where_the_tree_sends_it(table, prune, criterion):
    rows, y = table
    assume(np.unique(y).size > 1)
    X = pl.DataFrame(rows, schema={"size": pl.Float64, "weight of it": pl.Float64, "colour": pl.String})
    model = SSVTree(criterion, prune=prune).fit(X, y)
    rules = model.rules()
    leaves = left_to_right(model.tree_)
    assert len(rules) == len(leaves)
    reached = model.tree_.leaves(model._read(X, reset=False))
    predicted = model.predict(X)
    for row, leaf, answer in zip(rows, reached, predicted, strict=True):
        assert literally(rules, row) == [(leaves.index(leaf), answer)]
    for place, rule in enumerate(rules):
        inside = reached == leaves[place]
        assert (rule.weight, rule.wrong) == (inside.sum(), (y[inside] != rule.label).sum())
        assert len({condition.name for condition in rule.conditions}) == len(rule.conditions)


@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]))
def test_rules_of_plain_and_sparse_matrices(seed, dtype):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(25, 4)) * (rng.random((25, 4)) < 0.6)).astype(dtype)
    y = rng.integers(0, 2, 25)
    assume(np.unique(y).size > 1)
    dense, sparse = SSVTree(prune=None).fit(X, y), SSVTree(prune=None).fit(sp.csr_array(X), y)
    assert list(map(str, dense.rules())) == list(map(str, sparse.rules()))
    for row, answer in zip(X, dense.predict(X), strict=True):
        named = {f"x{j}": float(v) for j, v in enumerate(row)}
        assert [text for _, text in literally(dense.rules(), named)] == [str(answer)]


ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(ANY, ANY)
def test_few_digits_part_what_the_split_parts(a, b):
    below, above = min(a, b), max(a, b)
    assume(below < above)
    split = below / 2 + above / 2
    split = above if split <= below else split
    found = few_digits(below, split, above)
    assert below < found <= above
    assert float(number(found)) == found
    assert abs(found - split) <= abs(above / 2 - below / 2)


@pytest.mark.parametrize(
    ("below", "above", "text"),
    [
        (1.9, 3.0, "2.5"),
        (4.9, 5.0, "4.95"),
        (-1.0, 1.0, "0"),
        (-1.0, 1.1, "0"),
        (0.1234567, 0.1234569, "0.1234568"),
        (99.0, 1001.0, "600"),
        (1.0, np.nextafter(1.0, 2.0), "1.0000000000000002"),
    ],
)
def test_digits_that_are_enough(below, above, text):
    split = below / 2 + above / 2
    assert number(few_digits(below, split if split > below else above, above)) == text


def test_conditions_are_merged_and_worded():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]])
    rules = SSVTree(prune=None).fit(X, list("aabbaacc")).rules()
    assert [str(rule) for rule in rules] == [
        "IF x0 < 2.5 THEN a  (2 rows)",
        "IF 2.5 <= x0 < 4.5 THEN b  (2 rows)",
        "IF 4.5 <= x0 < 6.5 THEN a  (2 rows)",
        "IF x0 >= 6.5 THEN c  (2 rows)",
    ]


def test_a_subset_goes_right_and_what_is_not_in_it_left():
    X = pl.DataFrame({"colour": ["red", "red", "blue", "grey", "grey", "grey"]})
    rules = SSVTree(prune=None).fit(X, [0, 0, 0, 1, 1, 1]).rules()
    assert {str(rule).split("  ")[0] for rule in rules} in (
        {"IF colour not in {blue, red} THEN 1", "IF colour in {blue, red} THEN 0"},
        {"IF colour not in {grey} THEN 0", "IF colour in {grey} THEN 1"},
    )


def test_missing_values_are_spoken_of_where_there_were_some():
    X = np.array([[1.0, 1.0], [np.nan, 1.0], [1.0, 1.0], [9.0, 1.0]])
    rules = SSVTree(prune=None).fit(X, [0, 0, 0, 1]).rules()
    assert [str(rule) for rule in rules] == ["IF (x0 < 5 or missing) THEN 0  (3 rows)", "IF x0 >= 5 THEN 1  (1 row)"]
    assert [rule.conditions[0].missing for rule in rules] == [True, False]


def test_words_of_a_rule():
    assert str(Rule((), "a", 5.0, 2.0)) == "IF true THEN a  (5 rows, 2 of them other classes)"
    assert str(Rule((), "a\nb", 0.25, 0.125)) == "IF true THEN a b  (0.25 rows, 0.125 of them other classes)"
    assert str(Condition("two\nlines", low=-0.5)) == "two lines >= -0.5"
    assert str(Condition("x", inside=frozenset(["b", "a", "c,d", ""]))) == "x in {'', a, b, 'c,d'}"


def test_weights_are_counted():
    X = np.array([[1.0], [2.0], [2.0]])
    rules = SSVTree(prune=None).fit(X, ["a", "b", "a"], sample_weight=[1, 3, 0.5]).rules()
    assert [(rule.label, rule.weight, rule.wrong) for rule in rules] == [("a", 1.0, 0.0), ("b", 3.5, 0.5)]


def test_an_unfitted_tree_has_no_rules():
    with pytest.raises(NotFittedError):
        SSVTree().rules()
