"""Tables 2 to 4 and Figures 1 and 2 of Tang, Shepherd, Milios and Heywood (2005), on clusters of documents.

"Comparing and combining dimension reduction techniques for efficient text clustering". The figures print no numbers, so
that the curves here stand alone; the p-values of the tables stand beside ours.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from tamis.base.errors import TamisError
from tamis.base.seeds import seeded, spawn
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.text_columns import with_words
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, curves
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.text.reduction_curves import ReductionCurves, reduction_curves

#: Chains by name, each a function of the number of dimensions.
_Methods = dict[str, Callable[[int], Any]]

#: Documents that a word, and a class, must have: the paper's figures for Reuters.
_WORD_DOCUMENTS, _CLASS_DOCUMENTS = 4, 4
_HELD_OUT = 0.25

_WORDS = f"words({_WORD_DOCUMENTS}, stop=english, stem=porter)"
_WEIGHTS = "tfidf(true, idf=plain)"
_SCORES = {"DF": "count", "TI": "ti", "TfV": "tfv"}
#: K-means does not see the rotation of ICA, so that few iterations of FastICA are enough.
_PROJECTIONS = {"ICA": "ica({k}, max_iter=20)", "LSI": "lsi({k})", "RP": "random_projection({k})"}

#: Percent of the words that are left for ICA.
_SHARES = {"TI": (5, 10, 15, 20, 25), "TfV": (5, 10, 15, 20, 25), "DF": (20,)}

#: The share that the paper recommends, whose time is measured, in so many runs.
_SHARE, _RUNS = 20, 2


class _Collection(NamedTuple):
    """A data set: its size in the paper, and the printed p-values, each with the range of dimensions of its test.

    `selections` are those of Table 2, by row and column. `screenings` are H_a of Table 3 or 4, by share of the words.
    """

    printed: str
    splits: int
    starts: int
    projected: Sequence[int]
    projected_range: tuple[int, int]
    selected: Sequence[int]
    selected_range: tuple[int, int]
    selections: Mapping[tuple[str, str], float]
    table: int
    screened_range: tuple[int, int]
    screenings: Mapping[str, Sequence[float]]

    @property
    def screened(self) -> list[int]:
        low, high = self.screened_range
        return [size for size in self.projected if low <= size <= high]


_COLLECTIONS = {
    "webkb4": _Collection(
        printed="WebKB4: 4199 documents, 9870 words, 4 classes of 504 to 1641",
        splits=3,
        starts=10,
        projected=(3, 5, 7, 10, 15, 20, 30, 50, 70, 90, 150),
        projected_range=(7, 90),
        selected=(10, 40, 80, 160, 320, 640, 1000, 1500, 1980),
        selected_range=(80, 1980),
        selections={("DF", "TI"): 0.16, ("DF", "TfV"): 0.16},
        table=4,
        screened_range=(7, 90),
        screenings={"TI": (0.00, 0.10, 0.24, 0.00, 0.56), "TfV": (0.00, 0.06, 0.22, 0.47, 0.80)},
    ),
    "r52": _Collection(
        printed="Reuters-2: 8771 documents, 7315 words, 50 classes of 4 to 3807",
        splits=1,
        starts=5,
        projected=(10, 30, 50, 70, 93, 153),
        projected_range=(30, 93),
        selected=(20, 70, 140, 280, 560, 1095),
        selected_range=(70, 1095),
        selections={("DF", "TI"): 0.07, ("DF", "TfV"): 0.01, ("TI", "TfV"): 0.32},
        table=3,
        screened_range=(10, 153),
        screenings={"TI": (0.00, 0.00, 0.00, 0.44, 0.63), "TfV": (0.00, 0.00, 0.00, 0.01, 0.96)},
    ),
}


def _documents(data: Dataset) -> Dataset:
    """Counts of the words of the texts alone, in the classes that have enough documents."""
    others = [name for name in data.feature_names.tolist() if name not in data.texts]
    found = with_words(data.without(*others) if others else data, data.texts)
    classes, counts = np.unique(found.y, return_counts=True)
    large = np.isin(found.y, classes[counts >= _CLASS_DOCUMENTS])
    if not large.any():
        raise TamisError(f"{data.name}: no class has {_CLASS_DOCUMENTS} documents")
    return found.rows(large)


def _built(*steps: str) -> Callable[[int], Any]:
    """A chain of steps, as a function of the number of dimensions."""
    recipe = " | ".join((_WORDS, *steps))
    return lambda k: parse(recipe.format(k=k)).build()


def _projections() -> _Methods:
    unit = {name: _built(_WEIGHTS, part, "normalize") for name, part in _PROJECTIONS.items()}
    return unit | {f"{name}, not normalised": _built(_WEIGHTS, _PROJECTIONS[name]) for name in ("ICA", "LSI")}


def _selections() -> _Methods:
    return {name: _built(f"{part}({{k}})", _WEIGHTS) for name, part in _SCORES.items()}


def _screenings(name: str) -> _Methods:
    steps = (_WEIGHTS, _PROJECTIONS["ICA"], "normalize")
    return {_line(name, share): _built(_screen(name, share), *steps) for share in _SHARES[name]}


def _line(name: str, share: int) -> str:
    return f"{name} {share} %"


def _screen(name: str, share: int) -> str:
    return f"{_SCORES[name]}(fraction={share / 100:g})"


def _curves(methods: _Methods, dimensions: Sequence[int], own: _Collection, task: Task) -> dict[str, Any]:
    """CA of each reduction at each number of dimensions, in every split."""
    data = _documents(task.data)
    accuracy: dict[str, Any] = {}
    for split in range(own.splits):
        # A split by itself, for the progress.
        seed = spawn(task.seed, split)
        with _stopped_early():
            found = reduction_curves(
                methods, data.X, data.y, dimensions, test_size=_HELD_OUT, n_init=own.starts, random_state=seed
            )
        for name, values in found.accuracy.items():
            accuracy.setdefault(name, []).append(np.round(values[0], 6).tolist())
        task.progress(split + 1, own.splits)
    return {"dimensions": list(dimensions), "accuracy": accuracy}


def _times(dimensions: Sequence[int], task: Task) -> dict[str, Any]:
    """The size of the data, and seconds of the processor to weigh all documents and fit ICA, with and without a score.

    The decomposition behind ICA is that of `pca`, whose time is that of the whitening.
    """
    data = _documents(task.data)
    counts = parse(_WORDS).build().fit(data.X).transform(data.X)
    screens = {"": "", **{name: f"{_screen(name, _SHARE)} | " for name in _SHARES}}
    steps = {"pca": "pca({k})", "ica": _PROJECTIONS["ICA"]}
    seconds: dict[str, dict[str, list[float]]] = {step: {name: [] for name in screens} for step in steps}
    done = 0
    for k in dimensions:
        for step, found in seconds.items():
            last = steps[step].format(k=k)
            runs: dict[str, list[float]] = {name: [] for name in screens}
            for _ in range(_RUNS):
                for name, front in screens.items():
                    model = seeded(parse(f"{front}{_WEIGHTS} | {last}").build(), task.seed)
                    runs[name].append(_seconds(model, counts, data.y))
            for name, own in runs.items():
                found[name].append(round(min(own), 4))
            done += 1
            task.progress(done, 2 * len(dimensions))
    sizes = np.unique(data.y, return_counts=True)[1].tolist()
    return {"documents": data.n_rows, "words": counts.shape[1], "sizes": sizes, "at": list(dimensions), **seconds}


def _seconds(model: Any, X: Any, y: Any) -> float:
    with threadpool_limits(limits=1), _stopped_early():
        start = process_time()
        model.fit(X, y)
        return process_time() - start


@contextmanager
def _stopped_early() -> Iterator[None]:
    """FastICA may stop before it has settled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _pieces() -> tuple[Piece, ...]:
    pieces = []
    for data, own in _COLLECTIONS.items():
        runs = [("projections", _projections(), own.projected), ("selections", _selections(), own.selected)]
        runs += [(f"{name} before ICA", _screenings(name), own.screened) for name in _SHARES]
        for name, methods, dimensions in runs:
            run = partial(_curves, methods, dimensions, own)
            pieces.append(Piece(data, name, run, own.splits * len(methods) * len(dimensions)))
        pieces.append(Piece(data, "times", partial(_times, own.screened[-1:]), 2 * _RUNS))
    return tuple(pieces)


def _joined(findings: Findings, data: str, *pieces: str, dimensions: Sequence[int]) -> ReductionCurves | None:
    """The curves of some pieces at the dimensions that all of them have; None when one was not run."""
    accuracy: dict[str, Any] = {}
    for name in pieces:
        found = findings.get((data, name))
        if found is None:
            return None
        places = [found["dimensions"].index(size) for size in dimensions]
        accuracy |= {line: np.array(values)[:, places] for line, values in found["accuracy"].items()}
    return ReductionCurves(np.array(dimensions), accuracy)


def _tables(findings: Findings) -> list[Table]:
    tables = []
    for data, own in _COLLECTIONS.items():
        projected = _joined(findings, data, "projections", dimensions=own.projected)
        if projected is not None:
            tables.append(_accuracies(f"{data}: CA of projections, percent, by number of dimensions", projected))
            tables.append(_compared_projections(data, own, projected))
        selected = _joined(findings, data, "selections", dimensions=own.selected)
        if selected is not None:
            tables.append(_accuracies(f"{data}: CA of selections, percent, by number of words", selected))
            tables.append(_table_2(data, own, selected))
        screenings = [f"{name} before ICA" for name in _SHARES]
        screened = _joined(findings, data, "projections", *screenings, dimensions=own.screened)
        if screened is not None:
            tables.append(_accuracies(f"{data}: CA of ICA behind a screening, percent", screened, ("ICA", *_lines())))
            tables.append(_table_3(data, own, screened))
        if (data, "times") in findings:
            tables.append(_timing(data, own, findings[data, "times"]))
    return tables


def _lines() -> list[str]:
    return [_line(name, share) for name, shares in _SHARES.items() for share in shares]


def _accuracies(title: str, curves: ReductionCurves, names: Sequence[str] | None = None) -> Table:
    lines = [[name, *_percents(curves.mean(name))] for name in names or curves.accuracy]
    return Table(title, ("", *map(str, curves.dimensions.tolist())), lines)


def _percents(values: Any) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


def _compared_projections(data: str, own: _Collection, curves: ReductionCurves) -> Table:
    low, high = own.projected_range
    lines = []
    for first, second in (("ICA", "LSI"), ("ICA", "RP"), ("LSI", "RP")):
        test = curves.paired_t(first, second, low, high)
        lines.append([f"{first}, {second}", f"{100 * test.mean:+.1f}", f"{test.above:.2f}", f"{test.below:.2f}"])
    title = f"{data}: projections over the dimensions {low} to {high}, paired t"
    return Table(title, ("first, second", "first less second, points", "p, first above", "p, first below"), lines)


def _table_2(data: str, own: _Collection, curves: ReductionCurves) -> Table:
    low, high = own.selected_range
    lines: list[list[str | None]] = []
    for first, second in (("DF", "TI"), ("DF", "TfV"), ("TI", "TfV")):
        test = curves.paired_t(first, second, low, high)
        printed = own.selections.get((first, second))
        cells = [None if printed is None else f"{printed:.2f}", f"{test.below:.2f}", f"{100 * test.mean:+.1f}"]
        lines.append([f"{first}, {second}", *cells])
    title = f"Table 2, {data}: selections over {low} to {high} words, paired t"
    return Table(title, ("first, second", "p, first below, printed", "p here", "first less second, points"), lines)


def _table_3(data: str, own: _Collection, curves: ReductionCurves) -> Table:
    """Table 3 or 4: plain ICA against ICA behind a screening, with the differences."""
    low, high = own.screened_range
    lines: list[list[str | None]] = []
    for name, shares in _SHARES.items():
        for place, share in enumerate(shares):
            test = curves.paired_t("ICA", _line(name, share), low, high)
            mean = float(curves.mean(_line(name, share)).mean())
            printed = own.screenings.get(name)
            above = None if printed is None else f"{printed[place]:.2f}"
            figures = [f"{100 * mean:.1f}", f"{-100 * test.mean:+.1f}", above, f"{test.above:.2f}"]
            lines.append([_line(name, share), *figures])
    plain = 100 * float(curves.mean("ICA").mean())
    title = f"Table {own.table}, {data}: ICA behind a screening, dimensions {low} to {high}; plain ICA {plain:.1f}"
    columns = ("words left", "mean CA", "less plain, points", "p, plain above, printed", "p here")
    return Table(title, columns, lines)


def _timing(data: str, own: _Collection, found: Any) -> Table:
    lines: list[list[str | None]] = []
    for place, k in enumerate(found["at"]):
        for step, words in (("ica", "ICA"), ("pca", "its whitening")):
            all_words = found[step][""][place]
            cells = []
            for name in _SHARES:
                seconds = found[step][name][place]
                cells += [f"{seconds:.2f}", f"{all_words / seconds:.1f}x"]
            lines.append([f"{words}, {k}", f"{all_words:.2f}", *cells])
    sizes = found["sizes"]
    classes = f"{len(sizes)} classes of {min(sizes)} to {max(sizes)}"
    here = f"{found['documents']} documents, {found['words']} words, {classes}"
    title = f"{data}: seconds to fit on {here} (the paper's {own.printed})"
    columns = [text for name in _SHARES for text in (f"{_line(name, _SHARE)}, s", "faster")]
    return Table(title, ("", "all words, s", *columns), lines)


#: The figure of each collection, and the words for its parts.
_FIGURES = {"r52": 1, "webkb4": 2}
_PARTS = {"projections": "projections", "selections": "selections", "screened": "ICA behind a screening"}


def _figures(findings: Findings) -> list[Figure]:
    """Figures 1 and 2: CA of projections, of selections, and of ICA behind a screening."""
    drawn = []
    for data in _COLLECTIONS:
        screened = [f"{name} before ICA" for name in _SHARES]
        parts = {"projections": ["projections"], "selections": ["selections"], "screened": ["projections", *screened]}
        for part, pieces in parts.items():
            own: dict[str, Curve] = {}
            for name in pieces:
                if (found := findings.get((data, name))) is not None:
                    wanted = found["accuracy"] if part != "screened" or name != "projections" else ("ICA",)
                    for line in wanted:
                        mean = 100 * np.mean(found["accuracy"][line], axis=0)
                        own[line] = Curve(found["dimensions"], mean.tolist())
            if len(own) > 1:
                title = f"Figure {_FIGURES[data]}: {data}, {_PARTS[part]}"
                x = Axis("words" if part == "selections" else "dimensions")
                caption = "The values of the paper's curves are not printed."
                drawn.append(curves(f"{data}_{part}", title, caption, x, Axis("CA, %"), own))
    return drawn


STUDY = Study(
    "Text clustering",
    "Tang, Shepherd, Milios and Heywood 2005, Tables 2 to 4, Figures 1 and 2",
    "clusters of documents in few dimensions: selections, projections, and selections before ICA",
    _pieces(),
    _tables,
    figures=_figures,
    remarks=(
        "CA: share of the test documents (a quarter) whose closest cluster has their class, by training majority.",
        "K-means: as many clusters as classes; webkb4: 10 starts, the mean of 3 splits; r52: 5 starts, 1 split.",
        "Words: no stop words, Porter's stems, in 4 training documents or more; weights ltc (log, idf, length 1).",
        "A selection or screening ranks the counts; the words that are left are then weighed.",
        "Projected documents are divided by their length before k-means, which the paper does not mention.",
        "Lines without that are 'not normalised'.",
        "r52 stands for Reuters-2: one topic a document, classes of 4 documents or more.",
        "CSTR is not public, so that Table 5 is not run.",
        "Table 2's p-values are those of the first below the second, as its text reads them, not above as it says.",
        "Tables 3 and 4: p of H_a; that of H_b is 1 less it. Neighbouring dimensions are alike, so p is too small.",
        "FastICA stops after 20 iterations: a rotation changes no distance, so that to k-means ICA is whitened PCA.",
        "Times: processor seconds, one thread, sparse Lanczos iteration, better of 2; the paper prints none.",
    ),
)
