"""Named data sets: files found in a folder, and the real ones with the sizes their makers state."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bad_matrices import X, Y, packed, quadruple
from tamis.base.errors import DataError
from tamis.data import load, named

CSV = b"a,b,class\n1,2,u\n3,4,v\n"
GENERATED = {"madelon-like", "madelon-fresh", "friedman", "xor", "infection"}


def test_home_that_is_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"TAMIS_DATA names .*gone, which is not a folder"):
        load("iris")
    assert load("xor").n_rows > 0


def test_generated_sets_by_name(no_home: None) -> None:
    assert set(named.names()) == GENERATED
    assert all(named.names().values())
    for name in named.names():
        assert load(name).roles is not None
    with pytest.raises(DataError, match="no target 'y' can be chosen"):
        load("xor", target="y")


def test_files_are_found_by_name(home: Path) -> None:
    (home / "inner").mkdir()
    (home / "foo.csv").write_bytes(CSV)
    (home / "inner" / "b.a.r.csv.gz").write_bytes(gzip.compress(CSV))
    (home / "inner" / "baz.npz").write_bytes(packed(X=X, y=Y))
    (home / "README.csv").write_bytes(CSV)
    (home / ".hidden.csv").write_bytes(CSV)
    (home / "notes.txt").write_bytes(CSV)
    assert set(named.names()) - GENERATED == {"foo", "b.a.r", "baz"}
    assert named.names()["baz"] == "read from inner/baz.npz"
    data = load("b.a.r")
    assert (data.name, data.n_rows) == ("b.a.r", 2)
    assert load("baz").n_features == 3
    assert load("foo", target="a").y.tolist() == [1, 3]
    assert named.find("nothing") is None


def test_one_name_for_two_files(home: Path) -> None:
    for place in ("one", "two"):
        (home / place).mkdir()
        (home / place / "foo.csv").write_bytes(CSV)
    (home / "two" / "foo.svm").write_bytes(b"1 1:2\n2 7:1\n")
    assert set(named.names()) - GENERATED == {"foo", "two/foo", "two/foo.svm"}
    assert load("two/foo.svm").n_features == 7


def test_parts_in_a_file_each(home: Path) -> None:
    (home / "foo_train.csv").write_bytes(CSV)
    (home / "foo_test.csv").write_bytes(b"a,b,class\n5,6,v\n7,8,u\n")
    (home / "bar.test.csv").write_bytes(CSV)
    assert set(named.names()) - GENERATED == {"foo", "bar.test"}
    data = load("foo")
    assert data.split is not None
    assert data.split.tolist() == ["train", "train", "test", "test"]
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert data.y.tolist() == ["u", "v", "v", "u"]


def test_parts_with_words_and_parts_that_differ(home: Path) -> None:
    (home / "foo.train.csv").write_bytes(b"a,b,class\nred,1,0\nblue,2,1\n")
    (home / "foo.valid.csv").write_bytes(b"a,b,class\nred,3,0\nred,4,1\n")
    data = load("foo")
    assert data.X.rows() == [("red", 1.0), ("blue", 2.0), ("red", 3.0), ("red", 4.0)]
    assert data.nominal.tolist() == [True, False]
    assert data.split is not None
    assert data.split.tolist() == ["train", "train", "valid", "valid"]
    (home / "foo.valid.csv").write_bytes(b"a,c,class\nred,3,0\nred,4,1\n")
    with pytest.raises(DataError, match="foo: the columns of valid are not those of train"):
        load("foo")


def test_parts_with_labels_of_two_kinds(home: Path) -> None:
    (home / "foo.train.csv").write_bytes(b"a,b,class\nred,1,0\nblue,2,1\n")
    (home / "foo.test.csv").write_bytes(b"a,b,class\nred,3,no\nred,4,yes\n")
    with pytest.raises(DataError, match="foo: the labels are words in one part and numbers in another"):
        load("foo")


def test_challenge_files_by_name(home: Path) -> None:
    (home / "toy").mkdir()
    files = {"toy_train.data": b"1 2\n3 4\n", "toy_train.labels": b"-1\n1\n", "toy_test.data": b"5 6\n"}
    for name, content in files.items():
        (home / "toy" / name).write_bytes(content)
    assert set(named.names()) - GENERATED == {"toy"}
    assert load("toy").unlabelled["test"].tolist() == [[5, 6]]


def test_known_entry_needs_its_file_and_drops_its_columns(home: Path) -> None:
    (home / "uci").mkdir()
    (home / "uci" / "wpbc.csv").write_bytes(b"ID_number,outcome,size\n17,N,1\n18,R,2\n")
    assert set(named.names()) - GENERATED == {"wpbc"}
    data = load("wpbc")
    assert data.feature_names.tolist() == ["size"]
    assert data.X.tolist() == [[1], [2]]
    assert (data.y.tolist(), data.target) == (["N", "R"], "outcome")


def test_dropping_the_only_nominal_column_leaves_numbers(home: Path) -> None:
    (home / "uci").mkdir()
    (home / "uci" / "wpbc.csv").write_bytes(b"ID_number,outcome,size\nna,N,1\nnb,R,?\n")
    data = load("wpbc")
    assert isinstance(data.X, np.ndarray)
    np.testing.assert_array_equal(data.X, [[1], [np.nan]])


def test_sparse_archive_by_name(home: Path) -> None:
    (home / "wide.npz").write_bytes(packed(y_train=Y, **quadruple()))
    assert load("wide").is_sparse


# Rows and columns of the labelled parts, and how often each class occurs.
ARCHIVES: dict[str, tuple[tuple[int, int], list[int] | None]] = {
    "arcene": ((200, 10000), [112, 88]),
    "dexter": ((600, 20000), [300, 300]),
    "dorothea": ((1150, 100000), [1038, 112]),
    "madelon": ((2600, 500), [1300, 1300]),
    "gisette_surrogate": ((13500, 5000), [6750, 6750]),
    "leukemia": ((72, 7129), [47, 25]),
    "leukemia_mrmr": ((72, 7070), [47, 25]),
    "colon": ((62, 2000), [40, 22]),
    "colon_mrmr": ((62, 2000), [40, 22]),
    "lymphoma": ((62, 4026), [42, 11, 9]),
    "lymphoma_mrmr": ((96, 4026), [46, 11, 10, 9, 6, 6, 4, 2, 2]),
    "nci60": ((64, 6830), [9, 9, 8, 7, 7, 6, 6, 5, 2, 1, 1, 1, 1, 1]),
    "nci60_mrmr": ((60, 9712), [9, 9, 8, 8, 7, 6, 6, 5, 2]),
    "lung": ((66, 4553), [40, 17, 5, 4]),
    "lung_mrmr": ((73, 325), [21, 16, 13, 7, 6, 5, 5]),
    "child_leukemia": ((248, 2526), [79, 64, 43, 27, 20, 15]),
    "mnist": ((70000, 784), [7877, 7293, 7141, 6990, 6958, 6903, 6876, 6825, 6824, 6313]),
    "optdigits": ((5620, 64), [572, 571, 568, 566, 562, 558, 558, 557, 554, 554]),
    "isolet": ((3119, 617), None),
}

UCI: dict[str, tuple[tuple[int, int], list[int] | None]] = {
    "audiology": ((226, 69), [57, 48, 22, 22]),
    "autos": ((205, 25), [67, 54, 32, 27]),
    "balance.scale": ((625, 4), [288, 288, 49]),
    "bupa": ((345, 6), [200, 145]),
    "colic": ((368, 22), [232, 136]),
    "diabetes": ((768, 8), [500, 268]),
    "glass": ((214, 9), [76, 70, 29, 17]),
    "ionosphere": ((351, 34), [225, 126]),
    "iris": ((150, 4), [50, 50, 50]),
    "lymph": ((148, 18), [81, 61, 4, 2]),
    "monks-1": ((556, 6), [278, 278]),
    "monks-2": ((601, 6), [395, 206]),
    "monks-3": ((554, 6), [288, 266]),
    "splice": ((3190, 60), [1655, 768, 767]),
    "vote": ((435, 16), [267, 168]),
    "wdbc": ((569, 30), [357, 212]),
    "wine": ((178, 13), [71, 59, 48]),
    "wpbc": ((198, 33), [151, 47]),
    "zoo": ((101, 17), [41, 20, 13, 10]),
}


DOCUMENTS = {"20newsgroups", "r52", "reuters21578", "webkb4"}


@pytest.fixture
def real(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    return shared_data


@pytest.mark.parametrize("name", ARCHIVES | UCI)
def test_real_sets_by_name(real: Path, name: str) -> None:
    shape, counts = (ARCHIVES | UCI)[name]
    data = load(name)
    assert data.name == name
    assert data.X.shape == shape
    found = sorted(Counter(data.y.tolist()).values(), reverse=True)
    if counts is None:
        assert len(found) == 26
    else:
        assert found[: len(counts)] == counts


PARTS = {
    "arcene": ({"train": 100, "valid": 100}, {}),
    "dexter": ({"train": 300, "valid": 300}, {"test": 2000}),
    "dorothea": ({"train": 800, "valid": 350}, {"test": 800}),
    "madelon": ({"train": 2000, "valid": 600}, {"test": 1800}),
    "gisette_surrogate": ({"train": 6000, "valid": 1000, "test": 6500}, {}),
    "leukemia": ({"train": 38, "test": 34}, {}),
    "isolet": ({"train": 1560, "test": 1559}, {}),
    "monks-2": ({"train": 169, "test": 432}, {}),
}


@pytest.mark.parametrize("name", PARTS)
def test_official_parts(real: Path, name: str) -> None:
    data = load(name)
    labelled, unlabelled = PARTS[name]
    assert data.split is not None
    assert dict(Counter(data.split.tolist())) == labelled
    assert {part: rows.shape[0] for part, rows in data.unlabelled.items()} == unlabelled


def test_sums_stated_by_the_challenge(real: Path) -> None:
    dorothea = load("dorothea")
    assert [dorothea.rows(dorothea.split == part).X.nnz for part in ("train", "valid")] == [727760, 317752]
    assert dorothea.unlabelled["test"].nnz == 730851
    arcene = load("arcene")
    assert [arcene.rows(arcene.split == part).X.sum() for part in ("train", "valid")] == [70726744, 71410108]
    dexter = load("dexter")
    assert [dexter.rows(dexter.split == part).X.nnz for part in ("train", "valid")] == [28218, 27949]
    assert dexter.unlabelled["test"].nnz == 192449


def test_details_of_real_sets(real: Path) -> None:
    surrogate = load("gisette_surrogate")
    assert surrogate.probes is not None
    assert surrogate.probes.sum() == 2500
    isolet = load("isolet")
    assert np.abs(isolet.X).max() <= 1
    assert load("leukemia").classes.tolist() == ["ALL", "AML"]
    assert load("wpbc").n_missing == 4
    assert "Instance_name" not in load("splice").feature_names
    assert load("autos").target == "symboling"
    assert load("wine").feature_names[0] == "Alcohol"


def test_monks_obey_their_rule(real: Path) -> None:
    data = load("monks-1")
    assert data.feature_names.tolist() == ["a1", "a2", "a3", "a4", "a5", "a6"]
    a1, a2, a5 = data.X[:, 0], data.X[:, 1], data.X[:, 4]
    np.testing.assert_array_equal(data.y, ((a1 == a2) | (a5 == 1)).astype(int))


def test_listing_of_the_real_folder(real: Path) -> None:
    found = set(named.names())
    assert set(ARCHIVES) | set(UCI) <= found
    uci = {path.name.removesuffix(".gz") for path in (real / "uci").iterdir()}
    stems = {name.removesuffix(".arff").removesuffix(".csv") for name in uci}
    wanted = {name.removesuffix(".train").removesuffix(".test") for name in stems}
    assert wanted - {"optdigits"} <= found
    assert found == set(ARCHIVES) | wanted | GENERATED | DOCUMENTS | {"uci/optdigits", "diabetes_lars"}
    assert not any("gisette" in name and "surrogate" not in name for name in found)
