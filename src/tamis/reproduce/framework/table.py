"""A study that is one table: a whole model a line, validated, with the printed figures beside ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from tamis.reporting.figure_description import Figure
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.validation.json_values import plain
from tamis.validation.whole import validate


@dataclass(frozen=True)
class Published:
    """The printed figures of one model, all in percent; None where the paper prints none.

    The papers do not say whether `cv_error` is balanced; `cv_sd` is its deviation over folds. `test_ber` and `test_auc`
    are on the challenge's test rows; without confidences the AUC is 100 - BER. `f_feat` is the share of features used,
    `f_probe` that of probes among them, `winner_ber` the test BER of the best entry on that data set. With `about` the
    text gives the figures in words only ("very similar", "1 % lower").
    """

    cv_error: float | None = None
    cv_sd: float | None = None
    test_ber: float | None = None
    test_auc: float | None = None
    f_feat: float | None = None
    f_probe: float | None = None
    winner_ber: float | None = None
    about: bool = False


@dataclass(frozen=True)
class Row:
    """One model of a table: the name of the data set, the recipe and the printed figures.

    The `split` is folds over the train and valid rows together, or train rows against valid rows; the `note` is what a
    reader must know to compare.
    """

    data: str
    recipe: str
    published: Published
    split: Literal["pooled", "official"] = "pooled"
    note: str = ""

    def piece(self, folds: int) -> Piece:
        """Return the validation of the model as a piece of work."""
        pooled = self.split == "pooled"
        name = f"{self.recipe}, {f'{folds} folds' if pooled else 'train -> valid'}"
        size = folds if pooled else 1
        return Piece(self.data, name, partial(_validated, self, folds), size, pooled, vars(self.published))


def table_study(
    title: str,
    paper: str,
    summary: str,
    rows: Sequence[Row],
    *,
    remarks: Sequence[str] = (),
    folds: int = 10,
    more: Sequence[Piece] = (),
    tables: Callable[[Findings], list[Table]] | None = None,
    figures: Callable[[Findings], list[Figure]] | None = None,
) -> Study:
    """Make a study of the models of a table, each validated as a whole.

    `title`, `paper`, `summary` and `figures` are as for :class:`~tamis.reproduce.framework.study.Study`, `more` and
    `tables` are pieces and tables beside that of the rows. The `rows` of one data set stand together; `remarks` hold
    for this table only; `folds` is for pooled rows.
    """
    reading = (
        "BER here: balanced error rate in percent, its standard error in brackets; the deviation is that over folds.",
        "Published CV: error in percent with its deviation over folds; test and winner: BER on the test rows.",
        "The labels of the test rows are not public, so no figure here is on them.",
        f"train + valid: {folds} folds over both.",
    )
    pieces = tuple(row.piece(folds) for row in rows)
    order = list(dict.fromkeys(piece.data for piece in (*pieces, *more)))
    every = tuple(sorted((*pieces, *more), key=lambda piece: order.index(piece.data)))
    own = partial(_tables, tuple(zip(rows, pieces, strict=True)))

    def all_tables(findings: Findings) -> list[Table]:
        return own(findings) + ([] if tables is None else tables(findings))

    text = (*reading, *remarks)
    return Study(title, paper, summary, every, all_tables, text, lambda found: f"BER {_ber(found)}", figures)


def _validated(row: Row, folds: int, task: Task) -> dict[str, Any]:
    """The metrics as shares, and the features; "error" is 1 - accuracy."""
    found = validate(
        row.recipe,
        task.data,
        split=row.split,
        folds=folds,
        repeats=task.repeats,
        metrics=("ber", "accuracy", "auc"),
        seed=task.seed,
        n_jobs=task.n_jobs,
        progress=task.progress,
    )
    metrics = {}
    for name in ("ber", "accuracy", "auc"):
        estimate, values = found.estimates[name], found.values[name]
        if name == "accuracy":
            name, estimate, values = "error", replace(estimate, mean=1.0 - estimate.mean), 1.0 - values
        metrics[name] = plain({**vars(estimate), "values": values})
    real = None
    if found.selected is not None and task.data.probes is not None:
        real = [int((~task.data.probes[kept]).sum()) for kept in found.selected]
    return {
        "metrics": metrics,
        "n_features": found.n_features,
        "kept": None if found.selected is None else [int(kept.size) for kept in found.selected],
        "real": real,
        "probe_share": found.probe_share,
        "fit_seconds": round(float(found.fit_seconds.sum() + found.predict_seconds.sum()), 2),
    }


def found_rows(rows: Sequence[Row], findings: Findings, folds: int = 10) -> list[tuple[Row, Mapping[str, Any]]]:
    """Return the rows that were run, each with what was found."""
    named = [(row, row.piece(folds).name) for row in rows]
    return [(row, findings[row.data, name]) for row, name in named if (row.data, name) in findings]


def _tables(rows: Sequence[tuple[Row, Piece]], findings: Findings) -> list[Table]:
    there = [(row, findings[row.data, piece.name]) for row, piece in rows if (row.data, piece.name) in findings]
    cells = [_cells(row, found) for row, found in there]
    # A column that is empty everywhere is left out.
    columns = [name for name in (cells[0] if cells else ()) if any(line[name] for line in cells)]
    lines = [[str(number), *(line[name] for name in columns)] for number, line in enumerate(cells, 1)]
    notes = {place: row.note for place, (row, _) in enumerate(there) if row.note}
    return [Table("", ["", *columns], lines, words=3, recipes=[row.recipe for row, _ in there], notes=notes)]


def _cells(row: Row, found: Mapping[str, Any]) -> dict[str, str | None]:
    """The printed cells of a row by column; None where there is nothing to say."""
    printed, about = row.published, "about " if row.published.about else ""
    deviation = "" if printed.cv_sd is None else f" ± {printed.cv_sd:g}"
    sd, kept, real, share = found["metrics"]["ber"]["sd"], found["kept"], found["real"], found["probe_share"]
    return {
        "data": row.data,
        "rows": "train + valid" if row.split == "pooled" else "train -> valid",
        "published CV": None if printed.cv_error is None else f"{about}{printed.cv_error:g}{deviation}",
        "published test": None if printed.test_ber is None else f"{about}{printed.test_ber:.2f}",
        "winner's test": None if printed.winner_ber is None else f"{printed.winner_ber:.2f}",
        "published probes": None if printed.f_probe is None else f"{printed.f_probe:g} %",
        "BER here": _ber(found),
        "deviation": None if sd is None else f"{100 * sd:.1f}",
        "features": None if kept is None else _span(kept),
        "real": None if real is None else _span(real),
        "probes here": None if share is None else f"{100 * share:.1f} %",
        "s": f"{found['seconds']:.0f}",
    }


def _ber(found: Mapping[str, Any]) -> str:
    ber = found["metrics"]["ber"]
    return f"{100 * ber['mean']:.2f} ({100 * ber['se']:.2f})"


def _span(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
