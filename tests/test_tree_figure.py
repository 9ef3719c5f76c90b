"""The picture of a tree: boxes that do not overlap, bars that add up, names that stay names."""

import html
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from tamis.classify import SSVTree
from tamis.trees.figure import COLOURS, Layout, figure
from tamis.trees.rules import Wording
from tamis.trees.tree import Tree


def random_tree(leaves, seed, lean=0.5):
    """A tree of any shape; with `lean` near 0 or 1 a long chain."""
    rng = np.random.default_rng(seed)
    nodes = 2 * leaves - 1
    feature, left, right = (np.full(nodes, -1) for _ in range(3))
    open_ = [0]
    for child in range(1, nodes, 2):
        node = open_.pop(int(lean * (len(open_) - 1) + 0.5) if rng.random() < 0.8 else rng.integers(len(open_)))
        feature[node], left[node], right[node] = rng.integers(5), child, child + 1
        open_ += [child, child + 1]
    weight = rng.integers(0, 9, (nodes, 3)).astype(float)
    weight[:, 0] += 1
    for node in np.flatnonzero(feature >= 0)[::-1]:
        weight[node] = weight[left[node]] + weight[right[node]]
    split = np.where(feature < 0, np.nan, rng.normal(size=nodes))
    none = np.zeros(nodes + 1, dtype=np.int64)
    return Tree(feature, split, left, right, rng.random(nodes) < 0.5, none, np.zeros(0, bool), weight, np.ones(3))


def wording(tree):
    return Wording([f"x{j}" for j in range(5)], ["a", "b", "c"], tree.split)


def rectangles(trace):
    """Left, right, bottom and top of each rectangle of a trace."""
    x, y = (np.array(v, dtype=float) for v in (trace.x, trace.y))
    if np.isnan(x).all():
        return np.zeros((0, 4))
    x, y = x.reshape(-1, 6), y.reshape(-1, 6)
    return np.column_stack([x[:, :5].min(1), x[:, :5].max(1), y[:, :5].min(1), y[:, :5].max(1)])


def drawn(tree):
    """The traces of a picture by what they are: edges, boxes, bars, texts, and yes and no."""
    picture = figure(tree, wording(tree))
    edges, white, *rest = picture.data
    return picture, edges, [white, *rest[:3]], rest[3:6], rest[6], rest[7:]


@settings(max_examples=40)
@given(st.integers(1, 90), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]))
def test_boxes_do_not_overlap_and_lie_within_the_picture(leaves, seed, lean):
    tree = random_tree(leaves, seed, lean)
    picture, edges, boxes, _, texts, branches = drawn(tree)
    corners = np.concatenate([rectangles(box) for box in boxes])
    assert len(corners) == 2 * leaves - 1
    one, other = np.triu_indices(len(corners), 1)
    apart = (corners[one, 1] < corners[other, 0]) | (corners[other, 1] < corners[one, 0])
    apart |= (corners[one, 3] < corners[other, 2]) | (corners[other, 3] < corners[one, 2])
    assert apart.all()
    (low_x, high_x), (low_y, high_y) = picture.layout.xaxis.range, picture.layout.yaxis.range
    assert (corners[:, 0] > low_x).all()
    assert (corners[:, 1] < high_x).all()
    assert (corners[:, 2] > low_y).all()
    assert (corners[:, 3] < high_y).all()
    # A line runs between two levels, where there are no boxes.
    ends = np.array([v for v in edges.y if v is not None], dtype=float).reshape(-1, 2)
    assert len(ends) == 2 * (leaves - 1)
    np.testing.assert_allclose(ends[:, 0] - ends[:, 1], 0.5)
    assert (texts.text is not None) == bool(branches) == (leaves <= 60)


def test_parents_are_centred_and_leaves_in_a_row():
    tree = random_tree(20, 3)
    place = Layout.of(tree)
    assert sorted(place.x[tree.is_leaf]) == list(range(20))
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.left[node], tree.right[node]
        assert place.x[left] < place.x[node] < place.x[right]
        assert place.x[node] == (place.x[left] + place.x[right]) / 2
        assert place.depth[left] == place.depth[right] == place.depth[node] + 1


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_bars_show_the_mix_and_leaves_their_answer(leaves, seed):
    tree = random_tree(leaves, seed)
    _, _, boxes, bars, _, _ = drawn(tree)
    place = Layout.of(tree)
    found = np.zeros_like(tree.weight)
    for c, bar in enumerate(bars):
        assert (bar.fillcolor, bar.name, bar.showlegend) == (COLOURS[c], "abc"[c], True)
        for left, right, bottom, _ in rectangles(bar):
            depth = round(-bottom - 0.25)
            width = np.where(tree.is_leaf, 0.9, 1.86)
            inside = (place.depth == depth) & (np.abs(place.x - (left + right) / 2) < width / 2)
            (node,) = np.flatnonzero(inside)
            found[node, c] += (right - left) / width[node]
    np.testing.assert_allclose(found, tree.weight / tree.weight.sum(axis=1, keepdims=True), atol=1e-9)
    for c, box in enumerate(boxes[1:]):
        middle = rectangles(box)[:, :2].mean(axis=1)
        assert sorted(middle) == sorted(place.x[tree.is_leaf & (tree.prediction == c)])
        assert box.line.color == COLOURS[c]


NAMES = ["<b>bold</b>", "a & b &lt; c", "quote \" and '", "two\nlines", "$x^2$", "%{x}", "</script><script>alert(1)"]


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_names(name):
    X = pl.DataFrame({name: [1.0, 2.0, 3.0, 4.0], "colour": ["a", "b", name, "a"]})
    y = np.array([name, name, "other", "other"])
    picture = SSVTree(prune=None).fit(X.select(name), y).plot()
    levels = SSVTree(prune=None).fit(X.select("colour"), [0, 0, 1, 0]).plot()
    plain = " ".join(name.split())
    texts = [t for drawn in (picture, levels) for d in drawn.data for t in (*(d.text or ()), *(d.hovertext or ()))]
    names = [d.name for d in picture.data if d.showlegend]
    for text in [*texts, *names]:
        assert not set(re.sub(r"</?b>|<br>", "", text)) & set("<>$")
    assert plain in [html.unescape(text) for text in names]
    hover = [html.unescape(text) for d in picture.data if d.hovertext for text in d.hovertext]
    assert any(text.startswith(f"<b>{plain} < 2.5 ?</b><br>missing: ") for text in hover)
    assert any(text.startswith(f"<b>{plain}</b><br>2 rows") for text in hover)
    assert all(d.hovertemplate is None and d.texttemplate is None for d in picture.data)
    written = picture.to_html(include_plotlyjs=False)
    assert "<script>alert" not in written


def test_a_box_asks_and_answers():
    X = pl.DataFrame({"a name that is much too long for its box": [1.0, 2.0, 3.0, 4.0, 5.0]})
    picture = SSVTree(prune=None).fit(X, ["no", "no", "no", "yes", "yes"]).plot()
    *_, texts, branches = picture.data
    assert list(texts.text) == [
        "a name that is much\N{HORIZONTAL ELLIPSIS} &lt; 3.5<br>5 rows",
        "<b>no</b><br>3 rows",
        "<b>yes</b><br>2 rows",
    ]
    assert list(branches.text) == ["yes", "no"]
    assert branches.x[0] < texts.x[0] < branches.x[1]
    assert texts.hovertext[0] == (
        "<b>a name that is much too long for its box &lt; 3.5 ?</b><br>missing: yes<br>5 rows<br>no: 3<br>yes: 2"
    )


def test_many_classes_repeat_colours_and_are_counted_in_part():
    X = np.arange(20.0)[:, None]
    picture = SSVTree(prune=None, max_depth=1).fit(X, np.arange(20)).plot()
    texts = next(d for d in picture.data if d.hovertext)
    assert texts.hovertext[0].endswith("and 8 classes more")
    assert [d.name for d in picture.data if d.showlegend] == [str(c) for c in range(20)]


def test_a_tree_of_one_leaf():
    picture = SSVTree(prune=100).fit(np.arange(4.0)[:, None], [0, 0, 1, 0]).plot()
    texts = next(d for d in picture.data if d.text)
    assert list(texts.text) == ["<b>0</b><br>4 rows"]


def test_an_unfitted_tree_has_no_picture():
    with pytest.raises(NotFittedError):
        SSVTree().plot()


def test_plotly_is_imported_only_for_a_picture():
    code = "import sys; from tamis.classify import SSVTree; SSVTree().get_params(); sys.exit('plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
