"""Expression from files: genes as rows or columns, sample sheets as people write them, GCT and GEO."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from expression_files import GCT2, GCT3, GEO
from tamis.base.errors import DataError, TamisError
from tamis.data import Dataset, Reading
from tamis.data.synthetic.infection import infection
from tamis.data.write import write
from tamis.genes import Expression, read_expression
from tamis.genes.sample_sheet import parse_times

GENES = "gene,s1,s2,s3\nIFIT1,410,5200,NA\nACTB,300,310,290\n"
SHEET = "sample,time,condition\ns3,4,mock\ns1,0,mock\ns2,4,flu\n"


@pytest.fixture
def read(tmp_path):
    """Write a matrix and a sheet, and read them."""

    def run(genes=GENES, sheet=SHEET, *, file="genes.csv", **options):
        (tmp_path / file).write_text(genes)
        (tmp_path / "sheet.csv").write_text(sheet)
        return read_expression(tmp_path / file, tmp_path / "sheet.csv", **options)

    return run


def is_the_example(found, unit=""):
    np.testing.assert_array_equal(found.values, [[410, 5200, np.nan], [300, 310, 290]])
    assert found.genes.tolist() == ["IFIT1", "ACTB"]
    assert found.samples.tolist() == ["s1", "s2", "s3"]
    assert found.times.tolist() == [0, 4, 4]
    assert found.conditions.tolist() == ["mock", "flu", "mock"]
    assert found.unit == unit


def test_genes_as_rows(read):
    found = read()
    is_the_example(found)
    assert (found.name, found.notes) == ("genes", ())


def test_genes_as_columns_need_no_flag(read):
    is_the_example(read("sample,IFIT1,ACTB\ns1,410,300\ns2,5200,310\ns3,NA,290\n"))


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_other_tables(read, delimiter):
    is_the_example(read(GENES.replace(",", delimiter), SHEET.replace(",", delimiter), file="t.txt"))


def test_a_header_one_name_short_as_r_writes_it(read):
    is_the_example(read(GENES.replace("gene,", "")))


def test_decimal_commas_and_spellings_of_missing(read):
    genes = "gene;s1;s2;s3\nA;1,5;2,25;lost\nB;3,5;4;5\n"
    found = read(genes, reading=Reading(decimal=",", na=["lost"]))
    np.testing.assert_array_equal(found.values, [[1.5, 2.25, np.nan], [3.5, 4, 5]])


def test_columns_that_are_no_samples_are_left_out(read):
    found = read("gene,description,s1,s2,mean\nA,a kinase,1,2,1.5\nB,,3,4,3.5\n", SHEET.replace("s3", "s9"))
    assert found.values.tolist() == [[1, 2], [3, 4]]
    assert [note.partition(" ")[0] for note in found.notes] == ["samples", "columns"]
    assert "are not in" in found.notes[0]
    assert found.notes[0].endswith("'s9'")
    assert found.notes[1].endswith("left out: 'description', 'mean'")


def test_a_sample_without_a_time_or_a_condition_is_left_out(read):
    found = read(sheet="sample,time,condition\ns1,0,mock\ns2,,flu\ns3,4,NA\n")
    assert found.samples.tolist() == ["s1"]
    assert found.notes[0].endswith("without a time or a condition are left out: 's2', 's3'")


def test_blanks_around_names_do_not_count(read):
    is_the_example(read(GENES.replace("s2", " s2 "), SHEET.replace("s3,", "s3 ,").replace(",flu", ", flu")))


def test_columns_of_the_sheet_by_usual_and_by_given_names(read):
    sheet = "Chip,Batch,Hours,Treatment\ns1,1,0,mock\ns2,1,4,flu\ns3,2,4,mock\n"
    is_the_example(read(sheet=sheet), unit="h")
    is_the_example(read(sheet="a,b,c\ns1,0,mock\ns2,4,flu\ns3,4,mock\n", time="b", condition="c"))
    is_the_example(read(sheet="b,c,a\n0,mock,s1\n4,flu,s2\n4,mock,s3\n", sample="a", time="b", condition="c"))


def test_genes_of_one_name_are_numbered(read):
    found = read("gene,s1\nA,1\nA,2\nA (2),3\n,4\nA,5\n", "sample,time,condition\ns1,0,mock\n")
    assert found.genes.tolist() == ["A", "A (3)", "A (2)", "row 4", "A (4)"]
    assert found.notes == ("names of several rows, which are numbered: 'A'",)


@pytest.mark.parametrize(
    ("texts", "times", "unit"),
    [
        (["0.5h", "2 h", "72 hours"], [0.5, 2, 72], "h"),
        (["day 1", "Day 3", "d7"], [1, 3, 7], "d"),
        (["T0", "T24", "t_48"], [0, 24, 48], ""),
        (["30min", "60 minutes"], [30, 60], "min"),
        (["0,5", "1"], [0.5, 1], ""),
        (["-1", ".5"], [-1, 0.5], ""),
    ],
)
def test_times_as_people_write_them(texts, times, unit):
    found = parse_times(texts, "sheet")
    assert (found[0].tolist(), found[1]) == (times, unit)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        (SHEET + "s1,4,flu\n", "sheet.csv: sample 's1' is listed twice"),
        (SHEET.replace("s", "q"), r"genes.csv: no row or column is a sample of .*sheet.csv \('s1' is not, for one\)"),
        (SHEET.replace("time", "when"), "no column is called time; name it with --time; the columns are"),
        (SHEET.replace("condition", "x"), "no column is called condition; name it with --condition"),
        (SHEET.replace("4,flu", "late,flu"), "column 'time': 'late' is no time"),
        (SHEET.replace("4,flu", "4h,flu").replace("0,mock", "3d,mock"), "'4' and '3d' are in different units"),
        (
            SHEET.replace("4,flu", "4,").replace("0,mock", ",mock").replace("4,mock", "4,"),
            "both a time and a condition",
        ),
        ("sample,time,condition\n", "sheet.csv: (has no rows|names no sample|is empty)"),
        ("sample,time,time\ns1,1,2\n", "columns 2 and 3 are both called 'time'"),
    ],
)
def test_sheets_that_are_refused(read, sheet, message):
    with pytest.raises(DataError, match=message):
        read(sheet=sheet)


@pytest.mark.parametrize(
    ("genes", "message"),
    [
        ("gene,s1,s1,s2\nA,1,2,3\n", "sample 's1' occurs twice"),
        ("gene,s1,s2,s3\n", "(has no rows|has no genes|is empty)"),
        ("gene,s1,s2\nA,red,1\nB,blue,2\nC,red,4\n", "sample 's1' holds words in place of intensities"),
        ("gene,s1,s2\nA,inf,1\nB,2,2\n", "the value is infinite"),
    ],
)
def test_matrices_that_are_refused(read, genes, message):
    with pytest.raises(TamisError, match=message):
        read(genes)


def test_files_that_are_not_there(read, tmp_path):
    read()
    with pytest.raises(DataError, match=r"no\.csv: no such file"):
        read_expression(tmp_path / "no.csv", tmp_path / "sheet.csv")
    with pytest.raises(DataError, match=r"no\.csv: no such file"):
        read_expression(tmp_path / "genes.csv", tmp_path / "no.csv")
    with pytest.raises(DataError, match="no column is called 'when'; the columns are 'sample', 'time', 'condition'"):
        read(time="when")


def test_options_that_choose_features_are_refused(read):
    with pytest.raises(DataError, match="--drop is not for expression over time"):
        read(reading=Reading(drop=["a"]))
    with pytest.raises(DataError, match="--labels is not for expression over time; --samples names the sheet"):
        read(reading=Reading(labels="x.csv"))


@pytest.mark.parametrize(("text", "file"), [(GCT2, "t.gct"), (GCT3, "t.gct"), (GEO, "t_series_matrix.txt")])
def test_formats_with_genes_as_rows(read, text, file):
    found = read(text, file=file)
    np.testing.assert_array_equal(found.values, [[1, 2, 3], [4, 5.5, np.nan]])
    assert (found.genes.tolist(), found.samples.tolist()) == (["g1", "g2"], ["s1", "s2", "s3"])
    assert found.times.tolist() == [0, 4, 4]


def test_a_format_with_annotations_needs_no_sheet(tmp_path):
    (tmp_path / "t.gct").write_text(GCT3.replace("yes\tno\t\n", "yes\tno\tno\n"))
    found = read_expression(tmp_path / "t.gct", time="age", condition="ill")
    assert (found.times.tolist(), found.conditions.tolist()) == ([50, 60, 70], ["yes", "no", "no"])
    np.testing.assert_array_equal(found.values, [[1, 2, 3], [4, 5.5, np.nan]])
    (tmp_path / "t.gct").write_text(GCT3)
    with pytest.raises(DataError, match="2 samples have a condition and 3 a time"):
        read_expression(tmp_path / "t.gct", time="age", condition="ill")


def test_a_table_that_tells_of_its_samples_itself(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time,g1,condition,g2\n0,1,mock,2\n4,3,flu,4\n")
    found = read_expression(path)
    assert found.values.tolist() == [[1, 3], [2, 4]]
    assert (found.genes.tolist(), found.times.tolist()) == (["g1", "g2"], [0, 4])
    path.write_text("name,a,b\ncondition,mock,flu\ntime,0,4\ng1,1,3\ng2,2,4\n")
    found = read_expression(path, reading=Reading(transpose=True))
    assert found.values.tolist() == [[1, 3], [2, 4]]
    path.write_text("g1,condition,g2\n1,mock,2\n3,flu,4\n")
    with pytest.raises(TamisError, match="no column is called 'time'; the columns are"):
        read_expression(path)
    path.write_text(GENES)
    with pytest.raises(DataError, match="nothing tells the conditions of its samples: --samples names a sample sheet"):
        read_expression(path)
    with pytest.raises(DataError, match="no column is called 'state'"):
        read_expression(path, condition="state")


def test_a_generated_infection_by_name_and_through_files(tmp_path):
    made = infection(n_genes=30, n_markers=3)
    own = Expression.of_dataset(made)
    write(made, tmp_path / "rows.csv")
    own.frame().write_csv(tmp_path / "genes.csv")
    own.sheet().write_csv(tmp_path / "sheet.csv")
    for found in (
        read_expression(made),
        read_expression(tmp_path / "rows.csv"),
        read_expression(tmp_path / "genes.csv", tmp_path / "sheet.csv"),
    ):
        np.testing.assert_allclose(found.values, own.values, rtol=1e-12)
        assert found.genes.tolist() == own.genes.tolist()
        assert found.conditions.tolist() == own.conditions.tolist()
    assert read_expression("infection").values.shape == (6800, 32)


def test_data_sets_that_are_no_expression(tmp_path):
    words = Dataset(
        pl.DataFrame({"time": [1.0], "g": ["x"]}), np.array(["a"]), np.array(["time", "g"]), target="condition"
    )
    with pytest.raises(TamisError, match="column 'g' holds words"):
        Expression.of_dataset(words)
    with pytest.raises(DataError, match="a sample sheet goes with a file"):
        read_expression(words, tmp_path / "sheet.csv")
    write(infection(n_genes=10, n_markers=1), tmp_path / "genes.npz")
    (tmp_path / "sheet.csv").write_text(SHEET)
    with pytest.raises(DataError, match=r"genes\.npz: the samples of npz files have no names"):
        read_expression(tmp_path / "genes.npz", tmp_path / "sheet.csv")


def test_sparse_counts_are_filled(tmp_path):
    made = infection(n_genes=12, n_markers=1)
    sparse = Dataset(sp.csr_array(made.X), made.y, made.feature_names, target="condition")
    with pytest.raises(TamisError, match="is sparse, and expression is numbers in a table"):
        Expression.of_dataset(sparse)
    write(sparse, tmp_path / "t.npz")
    np.testing.assert_allclose(read_expression(tmp_path / "t.npz").values, Expression.of_dataset(made).values)
