"""Sense for columns: every rule fires where it must and not on the near miss, and new rows are treated alike."""

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.base.errors import DataError, TamisError
from tamis.compose.model_file import card_of
from tamis.compose.recipe import recipe
from tamis.data import load
from tamis.data.column_plan import ColumnPlan
from tamis.data.column_sense import as_planned, has_own_names, plan_of, sense
from tamis.data.column_words import column_warning_lines, left_out_lines
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.dates import DateReading, read_dates
from tamis.data.describe import describe
from tamis.data.fingerprint import fingerprint
from tamis.data.load import Sought
from tamis.validation.predict import predict_dataset

ROWS = 60
RNG = np.random.default_rng(0)
#: A measurement and a nominal column that every rule must leave alone.
PLAIN = {"size": RNG.normal(size=ROWS).tolist(), "colour": RNG.choice(["red", "blue", "green"], ROWS).tolist()}
SHUFFLED = RNG.permutation(ROWS)
MIXED = np.arange(ROWS) % 2


def table(y: Any = MIXED, **columns: Any) -> Dataset:
    """A table of the plain columns and others."""
    return Dataset.of(pl.DataFrame(PLAIN | columns), np.asarray(y))


def reason(values: Any, name: str = "it", **given: Any) -> str | None:
    """Why a column is left out, if it is."""
    data = sense(table(**{name: values}), **given)
    assert {"size", "colour"} <= set(data.feature_names)
    return data.left_out.get(name)


def days(numbers: Any, form: str = "%Y-%m-%d") -> list[str]:
    return [(datetime(2019, 5, 1) + timedelta(days=float(n))).strftime(form) for n in numbers]


# ---------------------------------------------------------------- identifiers

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmn"]
COUNTS = RNG.permutation(10**6)[:ROWS].astype(float)

IDENTIFIERS = {
    "codes": ("it", [f"P-{i:05}" for i in SHUFFLED * 7919 % 10**5]),
    "words": ("it", WORDS[:ROWS]),
    "words, one of them twice": ("it", [*WORDS[1:ROWS], WORDS[1]]),
    "a permutation": ("it", SHUFFLED + 1.0),
    "a permutation with missing values": ("it", [*(RNG.permutation(ROWS - 3) + 5.0), None, None, None]),
    "the rows": ("it", np.arange(ROWS) * 1.0),
    "the rows backwards": ("it", 500.0 - np.arange(ROWS)),
    "rising with gaps": ("it", np.cumsum(np.tile([1.0, 2.0, 1.0], ROWS // 3))),
    "in even steps": ("it", np.arange(ROWS) * 50.0),
    "numbers by name": ("patient_id", COUNTS),
    "numbers by a name in one word": ("PatientID", COUNTS),
    "numbers by a likely name": ("sample", COUNTS),
    "row names": ("Unnamed: 0", COUNTS),
    "three rows to one patient": ("patient_id", np.repeat(COUNTS[:20], 3)),
    "codes, two rows to one": ("it", np.repeat([f"TCGA-{i:04}" for i in range(30)], 2).tolist()),
}


@pytest.mark.parametrize("case", IDENTIFIERS)
def test_identifiers_are_left_out(case: str) -> None:
    name, values = IDENTIFIERS[case]
    found = reason(values, name)
    assert found is not None
    numbers = "whole numbers that only number the rows: "
    assert found.startswith(("an identifier: ", numbers))
    known = pl.Series(values).drop_nulls()
    assert found.endswith(f": {known.n_unique()} values in {len(known)} rows")


FEATURES = {
    "measurements that all differ": ("it", 36 + RNG.permutation(ROWS) / 10),
    "measurements in the order of the rows": ("it", np.sort(RNG.normal(size=ROWS))),
    "counts that all differ": ("it", COUNTS),
    "counts of one length": ("it", 100_000 + RNG.permutation(800_000)[:ROWS]),
    "counts that all differ, sorted": ("it", np.sort(COUNTS)),
    "a permutation with one value twice": ("it", [*SHUFFLED[:-1] * 1.0, float(SHUFFLED[0])]),
    "decimals under the name of an identifier": ("patient_id", 36 + RNG.permutation(ROWS) / 10),
    "few hospitals": ("hospital_id", RNG.integers(0, 8, ROWS) * 1.0),
    "few words under the name of an identifier": ("sample_id", RNG.choice(["blood", "urine"], ROWS).tolist()),
    "an index of the body": ("body mass index", COUNTS),
    "a gene called ID1": ("ID1", COUNTS),
    "rows of seats": ("row", RNG.integers(0, 40, ROWS) * 1.0),
    "coordinates": ("x", COUNTS),
    "numbers of classes": ("it", RNG.integers(0, 3, ROWS) * 1.0),
    "words, some of them twice": ("it", [*WORDS[: ROWS - 12], *WORDS[:12]]),
    "numbers with a decimal comma": ("it", [f"{36 + i / 10:.1f}".replace(".", ",") for i in SHUFFLED]),
    "limits of detection": ("it", [f"<{0.5 + i / 10:.1f}" for i in SHUFFLED]),
    "pressures": (
        "it",
        [f"{a}/{b}" for a, b in zip(90 + SHUFFLED, 50 + SHUFFLED % 7, strict=True)][:40] + ["90/60"] * 20,
    ),
}


@pytest.mark.parametrize("case", FEATURES)
def test_near_misses_of_identifiers_stay(case: str) -> None:
    name, values = FEATURES[case]
    assert reason(values, name) is None


def test_wide_counts_and_ranks_stay() -> None:
    """Gene counts that differ in every row are measurements, and so are ranks."""
    names = np.array([f"gene {a}{b}" for a in WORDS for b in "xyz"])
    counts = RNG.negative_binomial(2, 0.0005, size=(40, names.size)).astype(float)
    y = np.arange(40) % 2
    assert sense(Dataset(counts, y, names)).n_features == names.size
    ranks = counts.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") + 1.0
    assert sense(Dataset(ranks, y, names)).n_features == names.size
    assert sense(Dataset(ranks[:, :2], y, names[:2]), keep=names[:1]).left_out.keys() == {names[1]}


def test_wide_measurements_stay() -> None:
    names = np.array([f"gene {j} of many" for j in range(20_000)])
    data = Dataset(RNG.normal(size=(200, names.size)), np.arange(200) % 2, names)
    assert sense(data) is data


def test_a_small_table_has_no_identifiers_without_names_that_say_so() -> None:
    frame = pl.DataFrame(
        {
            "dose": [1.0, 2, 3, 4, 5, 6],
            "drug": list("abcdef"),
            "case_id": list("uvwxyz"),
            "number": [9.0, 4, 7, 1, 3, 8],
        }
    )
    assert sense(Dataset.of(frame, np.arange(6) % 2)).left_out.keys() == {"case_id"}


# ---------------------------------------------------------------- free text

SENTENCES = [f"the patient number {i} reports mild pain since {w}" for i, w in zip(range(ROWS), WORDS, strict=False)]


def test_free_text_is_left_out_with_its_length() -> None:
    length = np.mean([len(one) for one in SENTENCES])
    assert reason(SENTENCES) == f"free text: {ROWS} values of {length:.0f} characters in the mean"
    assert str(reason([*SENTENCES[:40], *["none"] * 20])).startswith("free text: 41 values")


def test_long_levels_are_no_free_text() -> None:
    levels = ["some college but no degree at all", "a master's degree or something like it"]
    assert reason(RNG.choice(levels, ROWS).tolist()) is None


# ---------------------------------------------------------------- dates

VISITS = RNG.integers(0, 45, ROWS)


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%y", "%Y/%m/%d", "%d %b %Y", "%B %d, %Y", "%Y%m%d"],
)
def test_dates_are_replaced_by_what_the_standard_library_says(form: str) -> None:
    """An oracle: datetime reads the same year, month, weekday and days."""
    offsets = VISITS * 9
    data = sense(table(visit=days(offsets, form)))
    assert data.left_out == {"visit": "a date, replaced by year, month, weekday and days"}
    when = [date(2019, 5, 1) + timedelta(days=int(n)) for n in offsets]
    expected = {
        "year": [d.year for d in when],
        "month": [d.month for d in when],
        "weekday": [d.isoweekday() for d in when],
        "days": [(d - min(when)).days for d in when],
    }
    assert {part: data.X[f"visit: {part}"].to_list() for part in expected} == expected


@given(st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)), min_size=3, max_size=30))
def test_times_of_day_are_read_as_they_were_written(moments: list[datetime]) -> None:
    moments = [one.replace(second=0, microsecond=0) for one in moments]
    reading = DateReading("ymd", 0.0, ("year", "month", "hour"))
    expected = [[m.year for m in moments], [m.month for m in moments], [m.hour + m.minute / 60 for m in moments]]
    for form in ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M", "%Y/%m/%d, %I:%M %p", "%Y-%m-%dT%H:%M:%S.000+02:00"):
        found = reading.columns(pl.Series("at", [one.strftime(form) for one in moments]))
        np.testing.assert_allclose([column.to_list() for column in found], expected, atol=1e-4)
    typed = reading.columns(pl.Series("at", moments))
    np.testing.assert_allclose([column.to_list() for column in typed], expected, atol=1e-4)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["03/04/2020", "25/04/2020", "01/02/2020"], "dmy"),
        (["03/04/2020", "04/25/2020", "01/02/2020"], "mdy"),
        (["03/04/2020", "05/06/2020", "01/02/2020"], "mdy"),
        (["03.04.2020", "05.06.2020", "01.02.2020"], "dmy"),
        (["03-04-20", "05-06-20", "01-02-20"], "dmy"),
        (["10:30", "11:45", "23:00"], "time"),
        ([20200131.0, 20200229.0, 20200301.0], "compact"),
        (["10:30", "11:75", "23:00"], None),
        (["31.02.2020", "01.02.2020", "30.02.2020"], None),
        (["1.2.3", "1.2.4", "2.0.1"], None),
        (["12.5", "13.5", "14.5"], None),
        (["10-20", "20-30", "30-40"], None),
        (["2020", "2021", "2022"], None),
        ([20200131.0, 20201301.0, 20200301.0], None),
        (["May", "June", "July"], None),
        ([None, None], None),
    ],
)
def test_the_order_of_day_and_month(values: list[Any], order: str | None) -> None:
    dtype = pl.Float64 if isinstance(values[0], float) else pl.String
    found = read_dates(pl.Series("d", values, dtype=dtype))
    assert (None if found is None else found.order) == order


def test_a_few_entries_may_be_no_dates() -> None:
    written = days(VISITS)
    assert str(reason(["unknown", None, *written[2:]])).startswith("a date, replaced by")
    assert reason([*["unknown"] * 10, *written[10:]]) is None


def test_dates_that_only_number_the_rows_are_left_out() -> None:
    words = "a date that only numbers the rows"
    assert reason(days(SHUFFLED)) == words
    assert reason(days(np.sort(RNG.permutation(90)[:ROWS].repeat(2)[:ROWS]))) == words
    assert reason(days(np.arange(ROWS) / 7, "%Y-%m-%d %H:%M")) == words
    # Sorted too, but only two days: batches.
    assert str(reason(days(np.repeat([0, 40], ROWS // 2)))).startswith("a date, replaced by")


def test_all_different_dates_of_birth_and_times_of_day_stay() -> None:
    assert str(reason(days(SHUFFLED * 200), "date_of_birth")).startswith("a date, replaced by")
    clock = [f"{n * 7 // 60:02}:{n * 7 % 60:02}" for n in SHUFFLED]
    assert reason(clock) == "a date, replaced by hour"


def test_numbers_that_are_dates_and_numbers_that_are_not() -> None:
    compact = [float(one) for one in days(VISITS, "%Y%m%d")]
    assert str(reason(compact)).startswith("a date, replaced by")
    assert reason(np.array(compact) + 60.0) is None
    assert reason(RNG.choice([2019.0, 2020.0], ROWS)) is None


def test_one_date_alone_is_constant() -> None:
    assert reason(["2020-01-01"] * ROWS) == "constant"


def test_dates_of_polars() -> None:
    when = [datetime(2019, 5, 1) + timedelta(days=int(n)) for n in VISITS]
    typed, written = sense(table(visit=when)), sense(table(visit=days(VISITS)))
    assert typed.left_out == written.left_out
    assert typed.X.equals(written.X)


# ---------------------------------------------------------------- constants and copies


def test_constants_and_copies_are_left_out() -> None:
    data = sense(table(unit=["kg"] * ROWS, empty=[None] * ROWS, one=[1.0] * ROWS, again=PLAIN["size"]))
    assert data.left_out == {
        "unit": "constant",
        "empty": "constant",
        "one": "constant",
        "again": "the same as size",
    }


def test_what_is_nearly_constant_or_nearly_a_copy_stays() -> None:
    ticked = ["x" if i % 3 else None for i in range(ROWS)]
    other = [*PLAIN["size"][:-1], 0.0]
    gap = [None, *PLAIN["size"][1:]]
    data = sense(table(ticked=ticked, nearly=[1.0] * (ROWS - 1) + [2.0], other=other, gap=gap))
    assert data.left_out == {}


def test_a_kept_copy_stands_for_the_others() -> None:
    data = table(again=PLAIN["size"])
    assert sense(data, keep=["again"]).left_out == {"size": "the same as again"}
    assert sense(data, keep=["again", "size"]) is data


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(10, 30))
def test_constants_and_copies_by_counting(seed: int, levels: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.choice([np.nan, 0.0, -0.0, 1.0, 2.5, 7.0][:levels], size=(rows, 3))[:, rng.integers(0, 3, 8)]
    names = np.array(list("abcdefgh"))
    found = plan_of(Dataset(X, np.arange(rows) % 2, names)).left_out
    columns = ["|".join("nan" if v != v else repr(v + 0.0) for v in column) for column in X.T]
    constant = {names[j] for j in range(8) if len(set(columns[j].split("|"))) == 1}
    copy = {names[j] for j in range(8) if columns[j] in columns[:j]} - constant
    assert found.keys() == constant | copy
    assert all(found[name].startswith("the same as") for name in copy)


# ---------------------------------------------------------------- columns that tell the class

HALVES = np.repeat(["ill", "well"], ROWS // 2)
TELLS = "tells the class alone; was it known before the outcome?"

LEAKS = {
    "a threshold": np.where(HALVES == "ill", 3.0, 0.0) + RNG.integers(0, 3, ROWS),
    "the class in other words": np.where(HALVES == "ill", "yes", "no").tolist(),
    "three words": [["died", "moved"][i % 2] if h == "ill" else "home" for i, h in enumerate(HALVES)],
    "known for one class only": [float(i % 9) if h == "ill" else None for i, h in enumerate(HALVES)],
    "a date of one class only": [d if h == "ill" else None for d, h in zip(days(VISITS), HALVES, strict=True)],
}
NO_LEAKS = {
    "a threshold with one error": [*LEAKS["a threshold"][:-1], 9.0],
    "words with one error": [*LEAKS["the class in other words"][:-1], "yes"],
    "many words": [f"{h}{w}" for h, w in zip(HALVES, np.tile(WORDS[:6], 10), strict=True)],
    "missing in both classes": [*LEAKS["known for one class only"][1:], 1.0][::-1],
}


@pytest.mark.parametrize("case", LEAKS)
def test_a_column_that_tells_the_class_stays_with_a_warning(case: str) -> None:
    data = sense(table(HALVES, after=LEAKS[case]))
    assert list(data.column_warnings.values()) == [TELLS]
    name = next(iter(data.column_warnings))
    assert name in data.feature_names
    assert name.startswith("after")
    assert column_warning_lines(data) == [f"{name} {TELLS}"]


@pytest.mark.parametrize("case", NO_LEAKS)
def test_a_column_that_nearly_tells_the_class_is_not_suspected(case: str) -> None:
    assert sense(table(HALVES, after=NO_LEAKS[case])).column_warnings == {}


def test_where_many_columns_tell_the_class_it_is_easy() -> None:
    genes = {f"gene {w}": LEAKS["a threshold"] + RNG.random(ROWS) / 10 for w in WORDS[:3]}
    assert len(sense(table(HALVES, **genes)).column_warnings) == 3
    assert sense(table(HALVES, **genes, more=LEAKS["the class in other words"])).column_warnings == {}


def test_few_rows_and_many_classes_are_not_suspected() -> None:
    data = table(HALVES, after=LEAKS["a threshold"])
    assert sense(data.rows(np.r_[0:12, 30:42])).column_warnings == {}
    assert sense(table(np.arange(ROWS) // 3, after=np.arange(ROWS) // 3 + 0.5)).column_warnings == {}


def test_three_classes_in_a_row_and_out_of_it() -> None:
    y = np.repeat([0, 1, 2], ROWS // 3)
    assert list(sense(table(y, after=y * 2.5)).column_warnings) == ["after"]
    assert sense(table(y, after=np.where(y == 2, 1.0, y * 1.0))).column_warnings == {}


# ---------------------------------------------------------------- what the user says


def test_wishes_overrule_the_rules() -> None:
    data = table(patient_id=[f"p{i}" for i in SHUFFLED], visit=days(SHUFFLED), unit=["kg"] * ROWS, day=days(VISITS))
    features = sense(data, keep=["patient_id", "unit", "visit: m*"], drop=["size", "day: days"]).feature_names.tolist()
    assert features == ["colour", "patient_id", "visit: month", "unit", "day: month", "day: weekday"]
    assert "visit: days" in sense(data, keep=["vis*"]).feature_names
    assert "visit: days" in sense(data, kinds={"visit": "date"}).feature_names
    asked = sense(data, drop=["day*"], ids=["colour"]).left_out
    assert (asked["day"], asked["colour"]) == ("as asked", "an identifier, as asked")


def test_kinds() -> None:
    data = table(code=RNG.integers(0, 3, ROWS) * 1.0, level=[f"{i % 7},5" for i in range(ROWS)], day=days(VISITS))
    said = {"code": "nominal", "level": "numeric", "day: month": "nominal", "size": "id"}
    found = sense(data, kinds=said)
    assert found.X.schema["code"] == found.X.schema["day: month"] == pl.String
    assert set(found.X["code"]) == {"0", "1", "2"}
    assert found.X["level"].to_list() == [i % 7 + 0.5 for i in range(ROWS)]
    assert found.left_out["size"] == "an identifier, as asked"
    assert "colour: red" in sense(data, kinds={"col*": "text"}).feature_names
    assert "day" in sense(data, kinds={"d*": "nominal"}).feature_names
    assert sense(data, kinds={"code": "numeric"}).X.schema["code"] == pl.Float64


def test_a_nominal_array_becomes_a_frame() -> None:
    X = np.column_stack([np.arange(40) % 3, RNG.normal(size=40)])
    found = sense(Dataset(X, np.arange(40) % 2, np.array(["x1", "x2"])), kinds={"x1": "nominal"})
    assert found.nominal.tolist() == [True, False]
    np.testing.assert_array_equal(found.X["x2"], X[:, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep": ["colur"]}, "keep: no column is called 'colur', or matches it; the nearest name is 'colour'"),
        ({"drop": ["date_*"]}, "drop: no column is called 'date_.*', or matches it; the nearest name is "),
        ({"ids": ["nothing"]}, "ids: no column is called 'nothing'"),
        ({"kinds": {"sise": "nominal"}}, "kinds: no column is called 'sise'.* nearest name is 'size'"),
        ({"kinds": {"size": "word"}}, "kinds: 'word' is none of numeric, nominal, date, id, text"),
        ({"kinds": {"colour": "date"}}, "column 'colour' was to be a date, and its values cannot be read as dates"),
        ({"kinds": {"colour": "numeric"}}, "column 'colour' was to be numeric, and '(red|blue|green)' is not a number"),
        ({"drop": ["class"]}, "drop: 'class' is the class, which is never a feature"),
        ({"drop": "size"}, "drop takes a list of names, and got the text 'size'"),
        ({"keep": ["s*"], "drop": ["size"]}, "column 'size' is both to be kept and to be left out"),
        ({"drop": ["*"]}, "no feature is left"),
    ],
)
def test_wishes_that_cannot_be_met_get_one_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TamisError, match=message):
        sense(table(), **given)


def test_a_name_with_brackets_is_a_name() -> None:
    assert reason(RNG.normal(size=ROWS), "temp[C]", drop=["temp[C]"]) == "as asked"


def test_a_table_of_nothing_but_an_identifier_is_refused() -> None:
    frame = pl.DataFrame({"id": [f"p{i}" for i in range(20)]})
    with pytest.raises(DataError, match=r"no feature is left \('id' is an identifier: 20 values in 20 rows\)"):
        sense(Dataset.of(frame, np.arange(20) % 2))


# ---------------------------------------------------------------- matrices


def test_a_matrix_of_numbered_columns_keeps_them_and_warns() -> None:
    X = np.column_stack([np.arange(40.0), np.ones(40), RNG.normal(size=(40, 2))])
    X = np.column_stack([X, X[:, 2]])
    y = np.arange(40) % 2
    for names in (np.arange(5), np.array([f"x{i}" for i in range(1, 6)]), np.array([f"V{i:02}" for i in range(5)])):
        data = Dataset(X, y, names)
        found = sense(data)
        assert found.X is X
        assert found.left_out == {}
        assert list(found.column_warnings) == [str(names[0])]
        assert column_warning_lines(found)[0].endswith("it stays, for the columns have no names")
        assert sense(data, drop=[str(names[0])]).n_features == 4
    named = sense(Dataset(X, y, np.array(list("abcde"))))
    assert named.left_out.keys() == {"a", "b", "e"}


def test_sparse_matrices_lose_constant_columns_with_names_alone() -> None:
    X = sp.csr_array(
        np.column_stack([np.arange(40.0), np.zeros(40), np.ones(40), np.arange(40) % 3, np.arange(40) % 3])
    )
    y = np.arange(40) % 2
    assert sense(Dataset(X, y, np.array(list("abcde")))).left_out == {"b": "constant", "c": "constant"}
    assert sense(Dataset(X, y, np.array([f"x{i}" for i in range(5)]))).n_features == 5
    assert sense(Dataset(X, y, np.array(list("abcde"))), drop=["b"]).left_out["b"] == "as asked"
    with pytest.raises(DataError, match="the columns of a sparse matrix are numbers"):
        sense(Dataset(X, y, np.array(list("abcde"))), kinds={"a": "nominal"})


def test_nothing_to_do_gives_the_same_data_set() -> None:
    data = table()
    assert sense(data) is data
    assert has_own_names(data)
    assert sense(unlabelled(np.ones((3, 2)), feature_names=np.array(["a", "b"]))).n_features == 2


# ---------------------------------------------------------------- the plan, for new rows

FULL = table(
    HALVES,
    patient_id=[f"p{i}" for i in SHUFFLED],
    visit=days(VISITS, "%d.%m.%Y"),
    at=days(VISITS / 3, "%m/%d/%Y %H:%M"),
    unit=["kg"] * ROWS,
    code=RNG.integers(0, 3, ROWS) * 1.0,
    after=LEAKS["a threshold"],
)


def test_a_plan_goes_through_json() -> None:
    plan = sense(FULL, kinds={"code": "nominal"}).plan
    assert plan.dates.keys() == {"visit", "at"}
    assert plan.kinds == {"code": "nominal"}
    assert ColumnPlan.from_dict(json.loads(json.dumps(plan.to_dict(), allow_nan=False))) == plan


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {"left_out": [], "dates": {}, "kinds": {}, "warnings": {}},
        {"left_out": {"a": 1}, "dates": {}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {"a": 1}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {"a": {"order": "ydm", "origin": 0, "parts": []}}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {"a": {"order": "ymd", "origin": 0, "parts": ["age"]}}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {"a": {"order": "ymd", "origin": 0, "parts": [[]]}}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {"a": {"order": [], "origin": 0, "parts": []}}, "kinds": {}, "warnings": {}},
        {"left_out": {}, "dates": {}, "kinds": {"a": "date"}, "warnings": {}},
    ],
)
def test_a_plan_that_is_none_is_refused(found: Any) -> None:
    with pytest.raises(DataError, match="a plan of columns has"):
        ColumnPlan.from_dict(found)


@given(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=8))
def test_new_rows_become_what_they_were_in_training(rows: list[int]) -> None:
    """The plan treats every row by itself: any rows, in any number and order."""
    sensed = sense(FULL, kinds={"code": "nominal"})
    new = as_planned(FULL.rows(np.array(rows)), sensed.plan)
    assert new.feature_names.tolist() == sensed.feature_names.tolist()
    assert new.X.equals(sensed.X[rows])


def test_a_saved_model_predicts_a_file_with_its_identifiers_and_dates(tmp_path: Path) -> None:
    sensed = sense(FULL)
    fitted = recipe("encode | knn(3)").fit(sensed.X, sensed.y)
    card = card_of(fitted, sensed)
    stored = json.dumps(sensed.plan.to_dict())
    path = tmp_path / "new.csv"
    FULL.X.head(7).select(reversed(FULL.X.columns)).write_csv(path)
    read = load(path, Sought(card.target, card.nominal))
    found = predict_dataset(fitted, card, as_planned(read, ColumnPlan.from_dict(json.loads(stored))))
    assert found.table["class"].to_list() == fitted.predict(sensed.X.head(7)).tolist()
    assert found.notes == []


def test_new_rows_without_classes_with_other_columns() -> None:
    sensed = sense(FULL)
    frame = FULL.X.drop("patient_id", "unit", "at").with_columns(new=pl.lit(1.0))
    new = as_planned(unlabelled(frame, feature_names=np.array(frame.columns)), sensed.plan)
    assert new.n_rows == 0
    assert new.unlabelled[""].equals(sensed.X.drop("^at: .*$").with_columns(new=pl.lit(1.0)))


def test_dates_after_the_first_and_before_it_and_none() -> None:
    plan = sense(table(visit=days(VISITS))).plan
    first = plan.dates["visit"].origin
    frame = pl.DataFrame({"visit": [*days([-30, 400]), "soon", None]})
    start = (date(2019, 5, 1) - date(1970, 1, 1)).days
    assert plan.apply(frame)["visit: days"].to_list() == [start - 30 - first, start + 400 - first, None, None]


def test_parts_without_classes_and_roles_follow() -> None:
    part = FULL.X.head(3)
    roles = np.array(["informative"] * FULL.n_features)
    data = sense(replace(FULL, unlabelled={"test": part}, roles=roles))
    assert data.unlabelled["test"].equals(data.X.head(3))
    assert data.roles is not None
    assert data.roles.size == data.n_features


def test_the_plan_survives_and_words_do_not_change_the_fingerprint() -> None:
    data = sense(FULL)
    assert data.rows(np.arange(9)).left_out == data.left_out
    assert data.without("size").left_out == data.left_out
    assert data.grouped_by("code").column_warnings == data.column_warnings
    assert fingerprint(data) == fingerprint(replace(data, plan=ColumnPlan()))


def test_twice_is_once() -> None:
    once = sense(FULL, keep=["at"])
    twice = sense(once)
    assert twice.feature_names.tolist() == once.feature_names.tolist()
    assert (twice.left_out, twice.plan.dates) == (once.left_out, once.plan.dates)


# ---------------------------------------------------------------- properties


@given(st.permutations(range(ROWS)))
def test_the_order_of_rows_matters_to_what_numbers_them_only(order: list[int]) -> None:
    data = sense(FULL.rows(np.array(order)))
    expected = sense(FULL)
    assert data.left_out == expected.left_out
    assert data.column_warnings == expected.column_warnings
    assert data.X.equals(expected.X[order])


@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3, unique=True))
def test_plain_names_do_not_change_what_values_say(names: list[str]) -> None:
    columns = {"patient_id": [f"p{i}" for i in SHUFFLED], "comment": SENTENCES, "number": SHUFFLED * 1.0}
    renamed = dict(zip(names, columns.values(), strict=True))
    before, after = sense(table(**columns)).left_out, sense(table(**renamed)).left_out
    assert list(after.values()) == list(before.values())


@given(
    st.lists(st.floats(-1e6, 1e6).filter(lambda v: v != int(v)), min_size=10, max_size=40, unique=True),
    st.sampled_from(["id", "patient_id", "it", "Unnamed: 0", "date"]),
)
def test_numbers_with_decimals_are_never_left_out(values: list[float], name: str) -> None:
    y = np.arange(len(values)) % 2
    data = Dataset.of(pl.DataFrame({name: values, "other": np.arange(len(values)) % 3 + 0.5}), y)
    assert name in sense(data).feature_names


TEXTS = st.one_of(
    st.text(max_size=30),
    st.dates().map(str),
    st.times().map(str),
    st.integers().map(str),
    st.from_regex(r"[0-9]{1,4}[-/.:][0-9]{1,2}[-/.: ][0-9]{1,4}", fullmatch=True),
    st.none(),
)


@given(
    st.integers(10, 40).flatmap(
        lambda rows: st.tuples(
            st.lists(TEXTS, min_size=rows, max_size=rows),
            st.lists(st.floats(allow_nan=False) | st.integers(0, 9).map(float), min_size=rows, max_size=rows),
        )
    )
)
def test_any_text_and_number_is_taken_and_new_rows_agree(columns: tuple[list[str | None], list[float]]) -> None:
    text, numbers = columns
    frame = pl.DataFrame(
        {"text": pl.Series(text, dtype=pl.String), "number": numbers, "mark": np.arange(len(text)) % 3}
    )
    data = Dataset.of(frame, np.arange(len(text)) % 2)
    found = sense(data, keep=["mark"])
    assert found.n_features >= 1
    one = as_planned(data.rows(np.array([3])), found.plan)
    assert one.feature_names.tolist() == found.feature_names.tolist()
    first = found.X[3].row(0) if isinstance(found.X, pl.DataFrame) else tuple(found.X[3])
    again = one.X.row(0) if isinstance(one.X, pl.DataFrame) else tuple(one.X[0])
    np.testing.assert_equal(again, first)


# ---------------------------------------------------------------- words, description, command line


def test_lines_name_each_column_or_count_a_kind() -> None:
    constants = {w: [1.0] * ROWS for w in WORDS[:12]}
    data = sense(table(**constants, id=[f"p{i}" for i in SHUFFLED]))
    assert left_out_lines(data) == [
        "left out: 12 constant columns: bal, bam, ban, bel, bem, ...",
        "left out: id (an identifier: 60 values in 60 rows)",
    ]
    assert left_out_lines(sense(table(**dict(list(constants.items())[:5]))))[4] == "left out: bem (constant)"


def test_describe_tells_what_would_be_left_out() -> None:
    facts = describe(FULL)
    assert (facts["identifiers"], facts["dates"], facts["free_text"]) == (1, 2, 0)
    assert facts["left_out"] == sense(FULL).left_out
    assert facts["column_warnings"] == {"after": TELLS}
    assert describe(sense(FULL))["left_out"] == facts["left_out"]
    assert describe(table())["left_out"] is None
    json.dumps(facts, allow_nan=False)


def test_describe_on_the_command_line(tamis: Any, tmp_path: Path) -> None:
    FULL.X.with_columns(pl.Series("class", HALVES)).write_csv(tmp_path / "full.csv")
    code, out, error = tamis("data", "describe", tmp_path / "full.csv")
    assert code == 0
    # Said once, before the table.
    assert "note: left out: patient_id (an identifier: 60 values in 60 rows)" in error
    assert "note: left out: unit (constant)" in error
    assert f"note: after {TELLS}" in error
    assert "left out: " not in out
    found = json.loads(tamis("data", "describe", tmp_path / "full.csv", "--json")[1])
    assert found["left_out"] == sense(FULL).left_out


# ---------------------------------------------------------------- real sets

#: What the real sets lose: constants, copies, and the names of the animals.
LOST = {
    "anneal": {"product-type", "m", "marvi", "corr", "jurofm", "s", "p"},
    "audiology": {"history_fullness", "middle_wave_poor"},
    "hypothyroid": {"TBG", "TBG measured"},
    "mushroom": {"veil-type"},
    "segment": {"region-pixel-count"},
    "sick": {"TBG", "TBG measured"},
    "zoo": {"animal"},
}
#: Sets that keep every column; mnist and gisette_surrogate, which do too, are too large for a test.
WHOLE = (
    *("arcene", "autos", "balance.scale", "breast.cancer", "breast.w", "bupa", "car", "child_leukemia"),
    *("cmc", "colic", "colon", "colon_mrmr", "credit.a", "credit.g", "dermatology", "dexter", "diabetes", "dorothea"),
    *("ecoli", "glass", "haberman", "heart.c", "heart.h", "heart.statlog", "hepatitis", "ionosphere", "iris"),
    *("kr.vs.kp", "labor", "leukemia", "leukemia_mrmr", "lung", "lung_mrmr", "lymph", "lymphoma", "lymphoma_mrmr"),
    *("madelon", "monks-1", "monks-2", "monks-3", "nci60", "nci60_mrmr", "optdigits", "primary.tumor", "sonar"),
    *("soybean", "splice", "tic-tac-toe", "vehicle", "vote", "vowel", "waveform5000", "wdbc", "wine", "wpbc"),
    *("letter", "page.blocks", "pendigits", "spambase", "uci/optdigits", "isolet"),
)


@pytest.mark.parametrize("name", sorted({*WHOLE, *LOST}))
def test_real_sets_lose_constants_copies_and_identifiers_alone(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = load(name)
    found = sense(data)
    assert found.left_out.keys() == LOST.get(name, set())
    assert found.column_warnings == {}
    assert found.n_features == data.n_features - len(found.left_out)
