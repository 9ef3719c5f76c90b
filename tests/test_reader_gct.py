"""The readers of expression data, GCT and GEO: annotations, and damaged files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expression_files import GCT2, GCT3, GEO
from fuzzing import damaged, survives
from reading import reads
from tamis.base.errors import DataError
from tamis.data.load import Sought, load
from tamis.data.readers.gct import reader as gct
from tamis.data.readers.geo import reader as geo

read_gct = reads(gct, "toy.gct")
read_geo = reads(geo, "toy_series_matrix.txt")


def test_a_usual_name_of_the_class_is_found(folder: Path) -> None:
    data = read_gct(folder, GCT3.replace("\nill\t", "\nClass\t"))
    assert (data.target, data.y.tolist()) == ("Class", ["yes", "no"])


def test_annotations_that_are_numbers_are_classes_too(folder: Path) -> None:
    assert read_gct(folder, GCT3, "age").y.tolist() == [50, 60, 70]


def test_an_optional_class_may_be_absent(folder: Path) -> None:
    data = read_gct(folder, GCT2, Sought("class"))
    np.testing.assert_array_equal(data.unlabelled[""], [[1, 4], [2, 5.5], [3, np.nan]])


def test_characteristics_on_different_lines_are_one_annotation(folder: Path) -> None:
    assert read_geo(folder, GEO, "age").y.tolist() == [3, 4, 5]
    assert read_geo(folder, GEO, "title").y.tolist() == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("#1.4\n1\t1\n", "line 1: is neither #1.2 nor #1.3"),
        ("#1.2\n", "ends before its header"),
        ("#1.2\n2\nName\n", "line 2: must be the 2 sizes"),
        ("#1.3\n2\t3\n" + GCT3.partition("\n")[2].partition("\n")[2], "line 2: must be the 4 sizes"),
        (GCT2.replace("\t2\t3\ng2", "\t2\ng2"), "line 4: has 4 values"),
        (GCT2.replace("2\t3\n", "9\t3\n", 1), "line 2: states 9 genes and there are 2"),
        ("#1.2\n0\t0\nName\tDescription\n", "has no rows"),
    ],
)
def test_malformed_gct(folder: Path, text: str, piece: str) -> None:
    with pytest.raises(DataError) as caught:
        read_gct(folder, text)
    assert piece in str(caught.value)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        (GEO.replace("!series_matrix_table_begin", ""), "has no line !series_matrix_table_begin"),
        (GEO.replace('"g2"\t4\t5.5\tnull', '"g2"\t4\t5.5'), "line 10: has 3 values for 3 samples"),
        ("".join(GEO.partition("begin\n")[:2]) + "!series_matrix_table_end\n", "holds no values"),
    ],
)
def test_malformed_geo(folder: Path, text: str, piece: str) -> None:
    with pytest.raises(DataError) as caught:
        read_geo(folder, text, "tissue")
    assert piece in str(caught.value)


def test_the_content_tells_whatever_the_name(tmp_path: Path) -> None:
    for text, target in ((GCT3, "ill"), (GEO, "tissue")):
        (tmp_path / "some.txt").write_text(text)
        assert load(tmp_path / "some.txt", target).feature_names.tolist() == ["g1", "g2"]


@given(content=damaged([GCT2.encode(), GCT3.encode()]), target=st.sampled_from((None, "ill", "age")))
@settings(max_examples=80)
def test_damaged_gct_gives_data_or_an_error(folder: Path, content: bytes, target: str | None) -> None:
    survives(gct, folder / "damaged.gct", content, target)


@given(content=damaged([GEO.encode()]), target=st.sampled_from((None, "tissue", "age")))
@settings(max_examples=80)
def test_damaged_geo_gives_data_or_an_error(folder: Path, content: bytes, target: str | None) -> None:
    survives(geo, folder / "damaged_series_matrix.txt", content, target)
