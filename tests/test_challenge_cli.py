"""Entries as files, and the commands that write, score and compare them: round trips, damaged archives, refusals."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing import damaged
from reading import put, put_challenge
from tamis.base.errors import DataError
from tamis.challenge import Submission, make_submission, read_submission, score_submission, write_submission
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.synthetic.madelon import madelon


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Thirty train rows, 20 valid rows and 10 test rows without classes, read from challenge files."""
    made = madelon(60, n_informative=2, n_redundant=1, n_repeated=0, n_probes=2)
    parts = np.repeat(["train", "valid"], [30, 20])
    labelled = replace(made.rows(np.arange(50)), split=parts, unlabelled={"test": made.X[50:]})
    return load(put_challenge(tmp_path_factory.mktemp("data") / "toy", "toy", labelled))


finite = st.floats(0, allow_infinity=False, allow_nan=False)


@given(
    st.lists(st.tuples(st.sampled_from([-1, 1]), finite), min_size=20, max_size=20),
    st.lists(st.integers(0, 4), min_size=1, unique=True) | st.none(),
    st.booleans(),
)
def test_what_is_written_is_read_back(
    folder: Path, toy: Dataset, answers: list[tuple[int, float]], features: list[int] | None, sure: bool
) -> None:
    labels, confidences = zip(*answers, strict=True)
    given_entry = Submission(
        "toy",
        {"valid": np.array(labels)},
        {"valid": np.array(confidences)} if sure else {},
        None if features is None else np.array(features),
    )
    for path in (folder / "once.zip", folder / "again.zip"):
        path.unlink(missing_ok=True)
        names = write_submission(given_entry, path)
    assert (folder / "once.zip").read_bytes() == (folder / "again.zip").read_bytes()
    assert names == ["toy_valid.resu"] + ["toy_valid.conf"] * sure + ["toy.feat"] * (features is not None)
    back = read_submission(path, toy, needed=("valid",))
    assert back.labels["valid"].tolist() == list(labels)
    assert back.features is None if features is None else back.features.tolist() == features
    assert [c.tolist() for c in back.confidences.values()] == [list(confidences)] * sure
    unpacked = folder / "unpacked"
    for old in unpacked.glob("*"):
        old.unlink()
    zipfile.ZipFile(path).extractall(unpacked)
    assert score_submission(read_submission(unpacked, toy), toy).to_dict() == score_submission(back, toy).to_dict()


def test_the_bytes_are_as_the_organisers_asked(tmp_path: Path) -> None:
    made = Submission("toy", {"valid": [1, -1, -1]}, {"valid": [0.5, 2, 1e-300]}, [4, 0])
    write_submission(made, tmp_path / "e.zip")
    with zipfile.ZipFile(tmp_path / "e.zip") as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert texts == {"toy.feat": b"5\n1\n", "toy_valid.conf": b"0.5\n2.0\n1e-300\n", "toy_valid.resu": b"+1\n-1\n-1\n"}
    assert [path.name for path in tmp_path.iterdir()] == ["e.zip"]


def test_a_second_data_set_joins_and_a_second_answer_replaces(tmp_path: Path, toy: Dataset) -> None:
    path = tmp_path / "e.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes/readme.txt", "by hand")
    other = replace(toy, name="folder/other")
    first = make_submission("cc(2) | knn(3)", toy)
    write_submission(first, path, add=True)
    write_submission(make_submission("knn(3)", other), path, add=True)
    again = make_submission("knn(1)", toy)
    write_submission(Submission("toy", again.labels, {}, None), path, add=True)
    assert zipfile.ZipFile(path).namelist() == [
        "folder-other.feat",
        *(f"folder-other_{part}.{kind}" for part in ("test", "train", "valid") for kind in ("conf", "resu")),
        "notes/readme.txt",
        "toy_test.resu",
        "toy_train.resu",
        "toy_valid.resu",
    ]
    assert np.array_equal(read_submission(path, toy).labels["valid"], again.labels["valid"])
    assert read_submission(path, other).features.size == 5
    before = path.read_bytes()
    with pytest.raises(DataError, match="is already there"):
        write_submission(first, path)
    assert path.read_bytes() == before
    with pytest.raises(DataError, match="cannot be written"):
        write_submission(first, tmp_path / "nowhere" / "e.zip")
    assert [p.name for p in tmp_path.iterdir()] == ["e.zip"]


@pytest.mark.parametrize(("owner", "method"), [(zipfile.ZipFile, "writestr"), (Path, "replace")])
def test_nothing_half_written_is_left(
    tmp_path: Path, toy: Dataset, monkeypatch: pytest.MonkeyPatch, owner: type, method: str
) -> None:
    made, path = make_submission("cc(2) | knn(3)", toy), tmp_path / "e.zip"
    write_submission(made, path)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(owner, method, fail)
    with pytest.raises(DataError, match=r"e\.zip: cannot be written \(No space left on device\)"):
        write_submission(make_submission("knn(1)", toy), path, add=True)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["e.zip"]


GOOD = {"toy_valid.resu": "+1\n-1\n" * 10, "toy_valid.conf": "0.5\n" * 20, "toy.feat": "4\n2\n"}

BAD: list[tuple[str, dict[str, str | bytes | None], str]] = [
    ("zero", {"toy_valid.resu": "+1\n0\n"}, "toy_valid.resu, line 2: label '0' is neither -1 nor +1"),
    ("two a line", {"toy_valid.resu": "+1 -1\n"}, "toy_valid.resu, line 1: label '+1 -1' is neither"),
    ("a gap", {"toy_valid.resu": "+1\n\n-1\n"}, "toy_valid.resu, line 2: label '' is neither"),
    ("no labels", {"toy_valid.resu": ""}, "toy_valid.resu, line 1: label '' is neither"),
    ("too few labels", {"toy_valid.resu": "+1\n" * 19}, "toy_valid.resu: has 19 lines for 20 valid rows"),
    ("too many labels", {"toy_valid.resu": "+1\n" * 21}, "toy_valid.resu: has 21 lines for 20 valid rows"),
    ("not text", {"toy_valid.resu": b"+1\n\xff\n"}, "toy_valid.resu, line 2: is not UTF-8 text"),
    ("too few confidences", {"toy_valid.conf": "1\n"}, "toy_valid.conf: has 1 lines for 20 labels"),
    ("negative", {"toy_valid.conf": "1\n-0.1\n"}, "toy_valid.conf, line 2: confidence '-0.1' is negative"),
    ("infinite", {"toy_valid.conf": "inf\n"}, "toy_valid.conf, line 1: confidence 'inf' is infinite"),
    ("overflow", {"toy_valid.conf": "1e999\n"}, "toy_valid.conf, line 1: confidence '1e999' is too large"),
    ("nan", {"toy_valid.conf": "1\nnan\n"}, "toy_valid.conf, line 2: confidence 'nan' is not a number"),
    ("feature zero", {"toy.feat": "1\n0\n"}, "toy.feat, line 2: index 0, but indices start at 1"),
    ("feature past the end", {"toy.feat": "5\n6\n"}, "toy.feat, line 2: feature 6 is past the last of 5"),
    ("feature twice", {"toy.feat": "5\n3\n5\n"}, "toy.feat, line 3: feature 5 is on line 1 already"),
    ("feature name", {"toy.feat": "x1\n"}, "toy.feat, line 1: index 'x1' is not a whole number from 1"),
    ("no features", {"toy.feat": "\n"}, "toy.feat: is empty; leave it out when all features are used"),
    ("other data", {"toy_valid.resu": None, "toy_valid.conf": None, "dexter_valid.resu": "+1\n"}, "for 'dexter'"),
    ("no valid", {"toy_valid.resu": None, "toy_train.resu": "+1\n" * 30}, ": has no file toy_valid.resu"),
    ("no answers", dict.fromkeys(GOOD), ": has no file toy_valid.resu"),
    ("test rows", {"toy_test.resu": "+1\n"}, "toy_test.resu: has 1 lines for 10 test rows"),
]


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


@pytest.mark.parametrize(("changes", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
def test_bad_files(
    tmp_path: Path, toy: Dataset, changes: dict[str, str | bytes | None], message: str, packed: bool
) -> None:
    files = {name: content for name, content in {**GOOD, **changes}.items() if content is not None}
    path = put(tmp_path, {"e.zip": zipped(files)}) / "e.zip" if packed else put(tmp_path / "e", files)
    with pytest.raises(DataError) as refusal:
        read_submission(path, toy, needed=("valid",))
    assert message in str(refusal.value)
    assert str(refusal.value).startswith(str(path))


def test_bad_archives(tmp_path: Path, toy: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(content: bytes) -> str:
        (tmp_path / "e.zip").write_bytes(content)
        with pytest.raises(DataError) as refused:
            read_submission(tmp_path / "e.zip", toy)
        assert str(refused.value).startswith(f"{tmp_path / 'e.zip'}: ")
        return str(refused.value)

    assert "is not a zip archive, or is a damaged one" in refusal(b"+1\n-1\n")
    assert "is not a zip archive" in refusal(b"")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        whole = zipped(GOOD, method)
        start = 30 + len("toy_valid.resu") + 9 * (method == zipfile.ZIP_LZMA)  # past the headers
        assert "or is a damaged one" in refusal(whole[:start] + b"\xff" * 20 + whole[start + 20 :])
    assert "has no file toy_train.resu, nor of another part" in refusal(zipped({}))
    for name in ("../toy_valid.resu", "/toy_valid.resu", "a/../../toy_valid.resu", "..\\toy_valid.resu"):
        assert "outside the archive" in refusal(zipped({**GOOD, name: "+1\n"}))
    assert "holds two files called 'toy.feat'" in refusal(zipped({**GOOD, "old/toy.feat": "1\n"}))
    twice = zipped({**GOOD, "toy_valid.RESU": "+1\n"}).replace(b"toy_valid.RESU", b"toy_valid.resu")
    assert "holds two files of one name" in refusal(twice)
    bomb = zipped({**GOOD, "zeros.bin": bytes(3 * 2**20)})
    assert len(bomb) < 2**14
    monkeypatch.setattr("tamis.challenge.submission._MOST_BYTES", 2 * 2**20)
    assert "unpacks to more than 2 MiB" in refusal(bomb)
    with pytest.raises(DataError, match=r"nowhere\.zip: no such file"):
        read_submission(tmp_path / "nowhere.zip", toy)


def test_what_other_systems_put_into_archives_does_not_matter(tmp_path: Path, toy: Dataset) -> None:
    files: dict[str, str | bytes] = {f"entry/{name}": content.replace("\n", "\r\n") for name, content in GOOD.items()}
    files |= {"__MACOSX/entry/._toy.feat": b"\x00\x05", "__MACOSX/entry/toy.feat": b"\x00", "entry/readme": "?"}
    found = read_submission(put(tmp_path, {"e.zip": zipped(files)}) / "e.zip", toy, needed=("valid",))
    assert found.features.tolist() == [3, 1]
    assert found.labels["valid"].tolist() == [1, -1] * 10


def survives(path: Path, toy: Dataset) -> None:
    """Either whole answers or one sentence about the path come of it."""
    refusal = str(path)
    try:
        found = read_submission(path, toy)
    except DataError as error:
        refusal = str(error)
    else:
        assert all(labels.size in (10, 20, 30) for labels in found.labels.values())
    assert refusal.startswith(str(path))
    assert len(refusal.splitlines()) == 1


@settings(max_examples=150)
@given(damaged([zipped(GOOD), zipped({"toy_valid.resu": "+1\n" * 20})]))
def test_damaged_archives(folder: Path, toy: Dataset, content: bytes) -> None:
    (folder / "damaged.zip").write_bytes(content)
    survives(folder / "damaged.zip", toy)


@settings(max_examples=100)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_damaged_files(folder: Path, toy: Dataset, name: str, data: st.DataObject) -> None:
    content = data.draw(damaged([GOOD[name].encode()]) | st.binary())
    survives(put(folder / "damaged", {**GOOD, name: content}), toy)


@pytest.fixture
def tamis(tamis: Callable[..., tuple[int, str, str]]) -> Callable[..., tuple[int, str, str]]:
    """The same for the command under test."""
    return partial(tamis, "challenge")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Challenge files with 200 train rows, 100 valid rows and 50 test rows without classes."""
    made = madelon(350, n_probes=20)
    parts = np.repeat(["train", "valid"], [200, 100])
    labelled = replace(made.rows(np.arange(300)), split=parts, unlabelled={"test": made.X[300:]})
    return put_challenge(tmp_path / "mad", "mad", labelled)


def refused(answer: tuple[int, str, str]) -> str:
    """What a refusal is: exit code 2, one line, no traceback, nothing on standard output."""
    code, out, error = answer
    assert (code, out) == (2, "")
    assert error.startswith("tamis: ")
    assert error.count("\n") == 1
    return error


def test_from_recipes_to_standings(tamis: Any, data: Path, tmp_path: Path) -> None:
    few, many = tmp_path / "few.zip", tmp_path / "many.zip"
    code, out, error = tamis("submit", data, "standardize | cc(10) | knn(3)", "-o", few)
    assert (code, error) == (0, "")
    assert "features used: 10 of 40" in out
    assert "mad_test.resu" in out
    assert out.count("fitted on these rows") == 1
    code, out, _ = tamis("submit", data, "knn(3)", "-o", many, "--train", "pooled", "--json")
    made = json.loads(out)
    assert (code, made["features_used"], made["files"][-1]) == (0, 40, "mad.feat")
    assert [(p["part"], p["rows"], p["fitted"]) for p in made["parts"]] == [
        ("train", 200, True),
        ("valid", 100, True),
        ("test", 50, False),
    ]
    assert made["parts"][2]["ber"] is None

    code, out, _ = tamis("score", few, data, "--json")
    found = json.loads(out)["data"]["mad"]
    assert found == score_submission(make_submission("standardize | cc(10) | knn(3)", load(data)), load(data)).to_dict()
    assert "F_probe" in tamis("score", few, data)[1]
    assert "mean" not in tamis("score", few, data)[1]
    code, out, _ = tamis("tournament", few, many, "--data", data, "--json")
    standings = json.loads(out)
    assert {place["entry"] for place in standings["standings"]} == {"few", "many"}
    assert sorted(place["score"] for place in standings["standings"]) == [-100.0, 100.0]
    assert len(standings["matches"]) == 1
    code, out, _ = tamis("tournament", few, many, "--data", data, "--test", "chi2")
    assert code == 0
    assert "100.00" in out
    assert "matches decided: " in out


def test_several_data_sets_in_one_entry(tamis: Any, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    assert tamis("submit", data, "knn(3)", "-o", path, "--add")[0] == 0
    assert tamis("submit", "xor", "cc(5) | knn(3)", "-o", path, "--add", "--train", "pooled")[0] == 0
    code, out, _ = tamis("score", path, data, "xor", "--part", "train", "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found["data"]) == ["mad", "xor"]
    assert found["mean"]["ber"] == pytest.approx(np.mean([each["ber"] for each in found["data"].values()]))
    assert (found["data"]["mad"]["f_probe"], found["mean"]["f_probe"]) == (None, None)
    assert found["data"]["xor"]["f_probe"] is not None
    assert "mean" in tamis("score", path, data, "xor", "--part", "train")[1]
    twin = tmp_path / "folder" / "e.zip"
    twin.parent.mkdir()
    twin.write_bytes(path.read_bytes())
    code, out, _ = tamis("tournament", path, twin, "--data", data, "--data", "xor", "--part", "train", "--json")
    assert [place["entry"] for place in json.loads(out)["standings"]] == [str(path), str(twin)]
    assert json.loads(out)["decided"] == {"mcnemar": 0, "features": 0, "probes": 0, "draw": 2}


def test_the_same_command_gives_the_same_bytes(tamis: Any, data: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        tamis("submit", data, "cc(10) | knn(auto)", "-o", tmp_path / name, "--seed", 3)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_commands_that_cannot_be_done(tamis: Any, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    tamis("submit", data, "cc(10) | knn(3)", "-o", path)
    assert "--add puts this data set's files into it" in refused(tamis("submit", data, "knn(3)", "-o", path))
    assert "does not predict" in refused(tamis("submit", data, "cc(3)", "-o", tmp_path / "f.zip"))
    three = put(tmp_path, {"three.csv": "x,class\n" + "1,a\n2,b\n3,c\n" * 5}) / "three.csv"
    assert "three: has 3 classes" in refused(tamis("submit", three, "knn(1)", "-o", tmp_path / "f.zip"))
    assert not (tmp_path / "f.zip").exists()
    assert "has no test rows whose classes are known" in refused(tamis("score", path, data, "--part", "test"))
    assert "has no file xor_train.resu; it has" in refused(tamis("score", path, "xor", "--part", "train"))
    assert "nowhere.zip: no such file" in refused(tamis("score", tmp_path / "nowhere.zip", data))
    assert "is not a zip archive" in refused(tamis("score", three, data))
    assert "two of the data sets are called 'mad'" in refused(tamis("score", path, data, data))
    assert "at least two entries; got 1" in refused(tamis("tournament", path, "--data", data))
    assert "cannot meet itself" in refused(tamis("tournament", path, path, "--data", data))
    broken = put(tmp_path / "broken", {"mad_valid.resu": "+1\nmaybe\n"})
    assert "mad_valid.resu, line 2: label 'maybe'" in refused(tamis("tournament", path, broken, "--data", data))
    assert tamis("tournament", path)[0] == 2
