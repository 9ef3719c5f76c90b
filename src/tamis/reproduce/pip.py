"""Tables 2 and 3 of Eyheramendy and Madigan (2005), "A novel feature selection score for text categorization".

Each topic is a problem of its own, whether a document has it. One set of words serves all topics: the score of a word
is the mean of its scores for the topics, weighted by their shares of the documents.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from tamis import scores
from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.score import score_many
from tamis.base.types import FloatArray, Mask
from tamis.compose.each_label import EachLabel
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.label_sets import LabelSets
from tamis.data.word_counts import WordCounts
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, bars, curves, log_axis
from tamis.reproduce.framework.share import run_shared
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task

#: Numbers of words.
SIZES = (10, 20, 50, 100, 200, 500, 1000)

#: Topics of Reuters-21578, and the most occurrences of a word in the training documents.
_TOPICS = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn")
_MOST = {"reuters21578": 2000, "20newsgroups": 3000}
_LEAST = 3

_SCORES: dict[str, tuple[str, dict[str, Any]]] = {
    "IG": ("ig", {}),
    "chi2": ("chi2", {"of": "presence"}),
    "OR": ("odds", {}),
    "BNS": ("bns", {}),
    "WF": ("wf", {}),
    "PIP": ("pip", {}),
    "PIPp": ("pipp", {}),
}

_TFIDF = "tfidf(sublinear=True, idf=plain) | "
_MODELS = {
    "Poisson": "nb(poisson)",
    "Bernoulli": "nb(bernoulli)",
    "multinomial": "nb(multinomial)",
    "probit": f"{_TFIDF}probit(laplace)",
    "probit, Gaussian": f"{_TFIDF}probit(gaussian)",
    "SVM": f"{_TFIDF}svm(linear)",
}

#: The areas of Tables 2 and 3, micro and macro, in the order of the scores.
_PRINTED: dict[str, dict[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "reuters21578": {
        "Poisson": ((708, 719, 670, 763, 684, 699, 755), (618, 628, 586, 667, 590, 618, 667)),
        "Bernoulli": ((779, 794, 669, 804, 721, 786, 822), (680, 698, 618, 709, 614, 696, 746)),
        "multinomial": ((812, 822, 644, 802, 753, 842, 832), (723, 733, 555, 713, 644, 762, 753)),
        "probit": ((911, 921, 674, 891, 881, 901, 891), (861, 861, 605, 842, 753, 842, 851)),
    },
    "20newsgroups": {
        "Poisson": ((753, 808, 928, 812, 684, 777, 854), (799, 841, 936, 841, 773, 813, 880)),
        "Bernoulli": ((531, 566, 508, 556, 436, 534, 650), (628, 673, 498, 652, 505, 627, 650)),
        "multinomial": ((535, 614, 575, 584, 456, 564, 575), (594, 644, 565, 634, 486, 604, 585)),
        "probit": ((703, 723, 575, 713, 565, 693, 644), (693, 723, 565, 703, 565, 683, 624)),
    },
}

#: The models that are run on each data set.
_RUN = {"reuters21578": tuple(_MODELS), "20newsgroups": ("Poisson", "Bernoulli", "multinomial", "probit")}

_AVERAGES = ("micro", "macro")


class Documents(NamedTuple):
    """Counts of words in training and test documents, and their topics."""

    train: Any
    test: Any
    train_topics: LabelSets
    test_topics: LabelSets


def documents(data: Dataset, most: int, topics: Sequence[str] | None = None) -> Documents:
    """The documents with one of the topics, in the words that a score may select; by default each class is a topic.

    Stop words are left out, and words that occur fewer than 3 times or more than `most` times in the training
    documents. The same word in two texts of a document, a title and a body, is one.
    """
    if data.split is None:
        raise TamisError(f"{data.name} has no official split into training and test documents")
    counts, words = _words(data.X)
    labels = LabelSets.of([[str(label)] for label in data.y] if topics is None else data.y)
    columns = np.arange(labels.n_labels) if topics is None else np.flatnonzero(np.isin(labels.names, topics))
    labels = LabelSets(labels.names[columns], sp.csr_array(labels.indicator[:, columns]))
    train, test = (np.flatnonzero((labels.labels_per_row > 0) & (data.split == part)) for part in ("train", "test"))
    total = np.asarray(counts[train].sum(axis=0)).ravel()
    stop = np.array([word in ENGLISH_STOP_WORDS for word in words])
    kept = np.flatnonzero(~stop & (total >= _LEAST) & (total <= most))
    return Documents(counts[train][:, kept], counts[test][:, kept], labels.rows(train), labels.rows(test))


def _words(X: WordCounts) -> tuple[sp.csr_array, list[str]]:
    """Counts of the words of all texts of a document, and the words."""
    assert X.vocabulary is not None
    columns = np.flatnonzero(X.vocabulary.is_word)
    words, place = np.unique(X.vocabulary.words[columns].astype(str), return_inverse=True)
    shape = (X.shape[1], words.size)
    into = sp.csr_array((np.ones(columns.size, dtype=np.float32), (columns, place)), shape=shape)
    return sp.csr_array(sp.csr_array(X) @ into), words.tolist()


def rankings(X: Any, topics: LabelSets) -> dict[str, np.ndarray]:
    """The columns in the order of each score, the best first.

    Scores are means over the topics, weighted by their sizes. Information gain is that of all classes at once where
    each document has one topic.
    """
    total: dict[str, Any] = dict.fromkeys(_SCORES, 0.0)
    for topic in range(topics.n_labels):
        wanted = [(scores.get(name), options) for name, options in _SCORES.values()]
        found = score_many(wanted, X, topics.has(topic).astype(np.intp))
        for name, one in zip(_SCORES, found, strict=True):
            # Information gain has no values of a class.
            own = one.values if one.by_class is None else one.by_class()[1]
            total[name] = total[name] + topics.sizes[topic] * own
    if (topics.labels_per_row == 1).all():
        total["IG"] = scores.get("ig")(X, topics.indicator.indices)
    return {name: rank(values) for name, values in total.items()}


def f1(truth: Mask, predicted: Mask) -> tuple[float, float]:
    """Micro and macro F1 of topics in columns.

    Examples
    --------
    >>> f1(np.array([[True, False], [True, True]]), np.array([[True, True], [True, False]]))
    (0.6666666666666666, 0.5)
    """
    hits, all_ = (truth & predicted).sum(axis=0), truth.sum(axis=0) + predicted.sum(axis=0)
    return float(2 * hits.sum() / max(all_.sum(), 1)), float(np.mean(2 * hits / np.maximum(all_, 1)))


def area(values: Sequence[float]) -> float:
    """The area under a curve of F1 over the numbers of words, at most 990 as in the paper.

    Examples
    --------
    >>> round(area([1.0] * len(SIZES)))
    990
    """
    return float(np.trapezoid(values, SIZES))


def _curve(recipe: str, own: Documents, order: np.ndarray) -> dict[str, list[float]]:
    """Micro and macro F1 at every number of words."""
    train, test = own.train[:, order[: SIZES[-1]]], own.test[:, order[: SIZES[-1]]]
    model, truth = parse(recipe).build(), own.test_topics.dense()
    found = []
    for size in SIZES:
        fitted = EachLabel(model).fit(train[:, :size], own.train_topics)
        found.append(f1(truth, fitted.predict(test[:, :size]).astype(bool)))
    return dict(zip(_AVERAGES, map(list, zip(*found, strict=True)), strict=True))


def _measure(recipe: str, task: Task) -> dict[str, Any]:
    """The curves of every score."""
    data: Dataset = task.data
    own = documents(data, _MOST[data.name], _TOPICS if data.name == "reuters21578" else None)
    orders = rankings(own.train, own.train_topics)
    curves = run_shared(partial(_curve, recipe, own), [(order,) for order in orders.values()], task)
    return {
        "documents": [own.train.shape[0], own.test.shape[0]],
        "words": own.train.shape[1],
        "curves": dict(zip(orders, curves, strict=True)),
    }


def _areas(found: Any, average: str) -> FloatArray:
    return np.array([area(found["curves"][name][average]) for name in _SCORES])


def _tables(findings: Findings) -> list[Table]:
    own = {data: {m: findings[data, m] for m in models if (data, m) in findings} for data, models in _RUN.items()}
    own = {data: found for data, found in own.items() if found}
    return [*(_area_table(data, found) for data, found in own.items()), *_places(own), *_curve_tables(own)]


def _area_table(data: str, own: Mapping[str, Any]) -> Table:
    lines = []
    for model, found in own.items():
        for number, average in enumerate(_AVERAGES):
            if model in _PRINTED[data]:
                lines.append([f"{model}, {average}, printed", *map(str, _PRINTED[data][model][number])])
            lines.append([f"{model}, {average}, here", *(f"{one:.0f}" for one in _areas(found, average))])
    first = next(iter(own.values()))
    rows = "{} training and {} test documents".format(*first["documents"])
    return Table(f"Tables 2 and 3: areas of F1 on {data}, {rows}, {first['words']} words", ("", *_SCORES), lines)


def _places(own: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """The mean place of each score among the seven, over the areas that are printed and run."""
    lines = []
    for data, models in own.items():
        both = [(m, number) for m in models if m in _PRINTED[data] for number in range(2)]
        if both:
            printed = np.mean([_ranks(np.array(_PRINTED[data][m][number])) for m, number in both], axis=0)
            here = np.mean([_ranks(_areas(models[m], _AVERAGES[number])) for m, number in both], axis=0)
            lines.append([f"{data}, printed", *(f"{one:.1f}" for one in printed)])
            lines.append([f"{data}, here", *(f"{one:.1f}" for one in here)])
    return (
        [Table("Mean place of a score, 1 is best, over models and both averages", ("", *_SCORES), lines)]
        if lines
        else []
    )


def _ranks(values: np.ndarray) -> np.ndarray:
    """Places from the largest on; equals share theirs."""
    return np.array([(values > one).sum() + ((values == one).sum() + 1) / 2 for one in values])


def _curve_tables(own: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    tables = []
    for data, models in own.items():
        for model, found in models.items():
            lines = [
                [name, *(f"{100 * a:.1f} / {100 * b:.1f}" for a, b in zip(curve["micro"], curve["macro"], strict=True))]
                for name, curve in found["curves"].items()
            ]
            title = f"{data}, {model}: micro / macro F1, percent, by number of words"
            tables.append(Table(title, ("", *map(str, SIZES)), lines))
    return tables


#: The figures of each model.
_FIGURES = {"multinomial": 2, "probit": 3, "Poisson": 4, "Bernoulli": 5}


def _figures(findings: Findings) -> list[Figure]:
    """Figures 2 to 5, micro and macro F1 of every model, and the areas of Tables 2 and 3."""
    drawn: list[Figure] = []
    for (data, model), found in findings.items():
        label = model.replace(", ", "_").lower()
        number = f"Figure {_FIGURES[model]}: " if model in _FIGURES else ""
        for average in _AVERAGES:
            own = {
                name: Curve(SIZES, [100 * value for value in curve[average]]) for name, curve in found["curves"].items()
            }
            title = f"{number}{model} on {data}, {average} F1"
            axes = log_axis("words", SIZES), Axis(f"{average} F1, %")
            drawn.append(curves(f"{data}_{label}_{average}", title, "Test documents.", *axes, own))
            if model in _PRINTED[data]:
                areas = _PRINTED[data][model][_AVERAGES.index(average)]
                groups = {"printed": areas, "here": _areas(found, average).tolist()}
                table, caption = 2 if data == "reuters21578" else 3, "The integral of F1 from 10 to 1000 words."
                name, title = f"areas_{data}_{label}_{average}", f"Table {table}: areas, {model}, {average}"
                drawn.append(bars(name, title, caption, list(_SCORES), Axis("area", limits=(0.0, 990.0)), groups))
    return drawn


def _brief(found: Any) -> str:
    areas = _areas(found, "micro")
    return f"largest area {areas.max():.0f}, by {list(_SCORES)[int(areas.argmax())]}"


STUDY = Study(
    "PIP",
    "Eyheramendy and Madigan 2005, Tables 2 and 3, Figures 2 to 5",
    "micro and macro F1 of seven scores of words against the number of words",
    tuple(
        Piece(
            data, model, partial(_measure, _MODELS[model]), 1 if model in ("Poisson", "Bernoulli", "multinomial") else 5
        )
        for data, models in _RUN.items()
        for model in models
    ),
    _tables,
    remarks=(
        "Area: the integral of F1 over the number of words from 10 to 1000, at most 990, by trapezoids.",
        "It is taken through 10, 20, 50, 100, 200, 500 and 1000 words; the paper does not print its numbers.",
        "A word's score is the mean over the topics, weighted by their shares: one set of words for all topics.",
        "Scores are computed on the training documents. Each topic has a classifier of its own.",
        "Reuters-21578: the paper's ten topics and ModApte's parts; the paper has 75 and 25 % of the same documents.",
        "20 Newsgroups: 18821 messages, parts by date (60 and 40 %); the paper: 19997, at random (75 and 25 %).",
        "Stop words are scikit-learn's 318, where the paper has 571.",
        "Left out: words of fewer than 3 training occurrences, and of more than 2000 (20 Newsgroups: 3000).",
        "Probit and SVM: tf-idf (ltc), which is not printed; prior variance 1. Gaussian prior and SVM are ours.",
    ),
    brief=_brief,
    figures=_figures,
)
