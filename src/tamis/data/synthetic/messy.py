"""A table as people have them: what a hospital exports, with everything that a reader must cope with."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl

from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.data.dataset import Dataset

#: Spellings of missing that people mix in one table.
MISSING = ("", "NA", "n/a", "NULL", "?", "nan", "#N/A")

_INFORMATIVE, _REDUNDANT, _PROBES = 6, 3, 36
_ROLES = {"informative": "informative", "redundant": "redundant", "repeated": "repeated"}
_SITES = ("Bern", "Basel", "Zürich", "Genève", "Lugano")
_COMMENTS = (
    "patient was tired",
    "no complaints, sleeps well",
    'said "better than last time"',
    "see letter; call back",
    "pain in the left knee",
    "none",
)


def messy(n_rows: int = 300, *, seed: int = 0) -> Dataset:
    """Make a table as people have them: ids, dates, comments, rare words, mixed spellings of missing.

    The class is "improved", "stable" or, in about one row of thirty, "worse". It depends on six laboratory values
    and on the word in `therapy`; three columns are sums of informative ones, one is a copy of an informative one, and
    all others have nothing to do with it: patient and sample numbers, the date of the visit and the time of admission,
    a site, a ward with rare levels, a free comment, a constant, yes and no, and numbers. About one value of twenty is
    missing in half of the columns, in seven spellings.

    Parameters
    ----------
    n_rows : int, default=300
    seed : int, default=0

    Returns
    -------
    Dataset
        Every value is text as it is to stand in a file; ``tamis.data.write`` writes it and ``tamis.load`` reads it.
        Roles "informative", "redundant", "repeated" and "probe".

    Examples
    --------
    >>> from tamis.data.synthetic.messy import messy
    >>> data = messy()
    >>> data.X.shape, data.classes.tolist()
    ((300, 60), ['improved', 'stable', 'worse'])
    """
    check_whole("n_rows", n_rows, 4)
    check_whole("seed", seed, 0)
    problem, rows = generator(seed, 0), generator(seed, 1)
    core = rows.standard_normal((n_rows, _INFORMATIVE))
    therapy = rows.choice(3, n_rows, p=[0.5, 0.4, 0.1])
    y = _classes(core, therapy, problem, rows)
    sums = core @ problem.uniform(0.5, 1.0, (_INFORMATIVE, _REDUNDANT)) + rows.normal(0, 0.2, (n_rows, _REDUNDANT))
    numbers = {f"informative{j}": core[:, j] for j in range(_INFORMATIVE)}
    numbers |= {f"redundant{j}": sums[:, j] for j in range(_REDUNDANT)}
    numbers |= {f"probe{j}": rows.standard_normal(n_rows) for j in range(_PROBES)}
    texts = {key: _written(values, problem) for key, values in numbers.items()}
    texts["repeated0"] = list(texts["informative0"])
    shuffled = [list(texts)[j] for j in problem.permutation(len(texts))]
    named = {f"lab_{number:02d}": key for number, key in enumerate(shuffled, start=1)}
    front, back = _words(n_rows, therapy, rows)
    columns = front | {name: texts[key] for name, key in named.items()} | back
    roles = {name: _ROLES.get(key.rstrip("0123456789"), "probe") for name, key in named.items()} | {
        "therapy": "informative"
    }
    holes = [name for name in columns if name not in ("patient_id", "sample_no", "unit", *_copies(named))]
    for name in problem.permutation(holes)[: len(columns) // 2].tolist():
        for row in np.flatnonzero(rows.random(n_rows) < 0.05).tolist():
            columns[name][row] = MISSING[rows.integers(len(MISSING))]
    return Dataset(
        pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)),
        y,
        np.array(list(columns)),
        name="messy",
        target="outcome",
        roles=np.array([roles.get(name, "probe") for name in columns]),
    )


def _classes(
    core: FloatArray, therapy: np.ndarray, problem: np.random.Generator, rows: np.random.Generator
) -> np.ndarray:
    """Improved or stable by the sign of a sum, worse where another is highest."""
    weights = problem.choice([-1.0, 1.0], _INFORMATIVE) * problem.uniform(0.7, 1.3, _INFORMATIVE)
    total = core @ weights + np.array([0.0, 1.2, -1.2])[therapy] + rows.normal(0, 0.5, len(core))
    rare = core[:, 0] * weights[0] - core[:, 1] * weights[1] + rows.normal(0, 0.3, len(core))
    y = np.where(total > np.median(total), "improved", "stable")
    y[np.argsort(rare)[-max(1, round(len(core) / 30)) :]] = "worse"
    return y


def _written(values: FloatArray, problem: np.random.Generator) -> list[str]:
    """Numbers on a scale of their own, with the decimals of a laboratory."""
    mean, scale = problem.uniform(5, 500), problem.uniform(0.5, 50)
    return [f"{mean + scale * value:.2f}" for value in values]


def _copies(named: dict[str, str]) -> list[str]:
    """The column that is repeated and its repeat, which stay equal to the last character."""
    return [name for name, key in named.items() if key in ("informative0", "repeated0")]


def _words(
    n_rows: int, therapy: np.ndarray, rows: np.random.Generator
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The columns in front of the laboratory values and those behind them."""
    start = datetime(2021, 1, 4, 7, 30)
    days = rows.integers(0, 700, n_rows)
    minutes = rows.integers(0, 600, n_rows)
    wards = np.array(["A1", "A2", "B1", "C3", "day clinic", "ICU"])
    front = {
        "patient_id": [f"P{number:05d}" for number in rows.permutation(10 * n_rows)[:n_rows].tolist()],
        "sample_no": [str(100_000 + number) for number in range(n_rows)],
        "visit_date": [(start + timedelta(days=day)).strftime("%Y-%m-%d") for day in days.tolist()],
        "admitted": [
            (start + timedelta(days=day - 2, minutes=minute)).strftime("%d.%m.%Y %H:%M")
            for day, minute in zip(days.tolist(), minutes.tolist(), strict=True)
        ],
        "site": rows.choice(_SITES, n_rows).tolist(),
        "therapy": np.array(["standard", "new", "none"])[therapy].tolist(),
    }
    back = {
        "ward": rows.choice(wards, n_rows, p=[0.4, 0.3, 0.2, 0.08, 0.015, 0.005]).tolist(),
        "smoker": rows.choice(["yes", "no"], n_rows).tolist(),
        "unit": ["mmol/l"] * n_rows,
        "sex": rows.choice(["f", "m"], n_rows).tolist(),
        "visits": rows.poisson(3, n_rows).astype(str).tolist(),
        "referred": rows.choice(["TRUE", "FALSE"], n_rows).tolist(),
        "age": rows.integers(18, 95, n_rows).astype(str).tolist(),
        "comment": rows.choice(_COMMENTS, n_rows).tolist(),
    }
    return front, back
