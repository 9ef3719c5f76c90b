"""The ARFF reader: against liac-arff, scipy and known counts of real files, sparse against dense, damaged files."""

import gzip
import io
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.io.arff
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.externals import _arff as liac_arff

from bad_tables import GOOD_ARFF, GOOD_SPARSE
from fuzzing import damaged, survives
from reading import reads, rows_of
from tamis.base.errors import DataError
from tamis.data.parsing.reader import Source
from tamis.data.readers.arff import reader

read = reads(reader, "toy.arff")

# Rows, inputs, classes and size of the largest class, as counted in the files by other means.
KNOWN = {
    "anneal": (898, 38, 5, 684),
    "audiology": (226, 69, 24, 57),
    "autos": (205, 25, 6, 67),
    "balance.scale": (625, 4, 3, 288),
    "breast.cancer": (286, 9, 2, 201),
    "breast.w": (699, 9, 2, 458),
    "car": (1728, 6, 4, 1210),
    "cmc": (1473, 9, 3, 629),
    "colic": (368, 22, 2, 232),
    "credit.a": (690, 15, 2, 383),
    "credit.g": (1000, 20, 2, 700),
    "dermatology": (366, 34, 6, 112),
    "diabetes": (768, 8, 2, 500),
    "ecoli": (336, 7, 8, 143),
    "glass": (214, 9, 6, 76),
    "haberman": (306, 3, 2, 225),
    "heart.c": (303, 13, 2, 165),
    "heart.h": (294, 13, 2, 188),
    "heart.statlog": (270, 13, 2, 150),
    "hepatitis": (155, 19, 2, 123),
    "hypothyroid": (3772, 29, 4, 3481),
    "ionosphere": (351, 34, 2, 225),
    "iris": (150, 4, 3, 50),
    "kr.vs.kp": (3196, 36, 2, 1669),
    "labor": (57, 16, 2, 37),
    "letter": (20000, 16, 26, 813),
    "lymph": (148, 18, 4, 81),
    "mushroom": (8124, 22, 2, 4208),
    "optdigits": (5620, 64, 10, 572),
    "page.blocks": (5473, 10, 5, 4913),
    "pendigits": (10992, 16, 10, 1144),
    "primary.tumor": (339, 17, 21, 84),
    "segment": (2310, 19, 7, 330),
    "sick": (3772, 29, 2, 3541),
    "sonar": (208, 60, 2, 111),
    "soybean": (683, 35, 19, 92),
    "spambase": (4601, 57, 2, 2788),
    "splice": (3190, 61, 3, 1655),
    "tic-tac-toe": (958, 9, 2, 626),
    "vehicle": (846, 18, 4, 218),
    "vote": (435, 16, 2, 267),
    "vowel": (990, 13, 11, 90),
    "waveform5000": (5000, 40, 3, 1692),
    "wine": (178, 13, 3, 71),
    "zoo": (101, 17, 7, 41),
}


def test_every_real_file_has_the_known_counts(shared_data: Path) -> None:
    paths = sorted((shared_data / "uci").glob("*.arff.gz"))
    assert [path.name.removesuffix(".arff.gz") for path in paths] == sorted(KNOWN)
    for path in paths:
        source = Source(path)
        assert reader.looks_right(source)
        data = reader.read(source, None)
        largest = Counter(data.y.tolist()).most_common(1)[0][1]
        assert (data.n_rows, data.n_features, data.classes.size, largest) == KNOWN[source.stem], path.name


@pytest.mark.parametrize("name", ["iris", "wine", "vote", "colic", "splice", "vowel", "labor"])
def test_real_files_as_scipy_reads_them(shared_data: Path, name: str) -> None:
    path = shared_data / "uci" / f"{name}.arff.gz"
    data = reader.read(Source(path), None)
    theirs, meta = scipy.io.arff.loadarff(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    assert [*data.feature_names, data.target] == [n for n in meta.names() if n != data.target] + [data.target]
    ours = data.X if isinstance(data.X, pl.DataFrame) else pl.DataFrame(data.X, schema=data.feature_names.tolist())
    for feature in data.feature_names:
        if meta[feature][0] == "nominal":
            expected = [None if word == b"?" else word.decode().strip("'") for word in theirs[feature]]
            assert ours.get_column(feature).to_list() == expected, feature
        else:
            np.testing.assert_array_equal(ours.get_column(feature).to_numpy(), theirs[feature], feature)
    assert [str(label) for label in data.y.tolist()] == [label.decode().strip("'") for label in theirs[data.target]]


odd_text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=5)
# The writer escapes no backslashes and quotes in names, and leaves some lone signs without quotes.
plain_text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters='\\"'), max_size=5)
words = odd_text.map("w{} z".format)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[str, object]], list[list[object]]]:
    """Attributes and rows as liac-arff takes them; the last attribute is the class."""
    names = draw(st.lists(plain_text.map("n {}".format), min_size=2, max_size=5, unique=True))
    kinds: list[object] = ["REAL", "INTEGER", "NUMERIC", "STRING"]
    attributes: list[tuple[str, object]] = []
    for name in names:
        declared = st.lists(words, min_size=1, max_size=4, unique=True)
        attributes.append((name, draw(st.sampled_from(kinds) | declared)))
    attributes[-1] = (names[-1], ["no", "yes it is"])

    def values(kind: object) -> st.SearchStrategy[object]:
        if isinstance(kind, list):
            return st.sampled_from(kind)
        if kind == "STRING":
            return words
        return st.integers(-99, 99) if kind == "INTEGER" else st.floats(allow_nan=False, allow_infinity=False)

    row = st.tuples(*[values(kind) | st.none() for _, kind in attributes[:-1]], values(attributes[-1][1]))
    return attributes, [list(cells) for cells in draw(st.lists(row, min_size=1, max_size=6))]


@given(table=tables(), line_end=st.sampled_from(("\n", "\r\n")), bom=st.booleans())
@settings(max_examples=100)
def test_reads_what_liac_arff_writes(
    folder: Path, table: tuple[list[tuple[str, object]], list[list[object]]], line_end: str, bom: bool
) -> None:
    attributes, rows = table
    text = liac_arff.dumps({"relation": "a toy", "attributes": attributes, "data": rows}).replace("\n", line_end)
    data = read(folder, text.encode("utf-8-sig" if bom else "utf-8"))
    assert [*data.feature_names.tolist(), data.target] == [name for name, _ in attributes]
    assert data.y.tolist() == [row[-1] for row in rows]
    assert rows_of(data) == [tuple(row[:-1]) for row in rows]


def sparse_text(X: np.ndarray, y: list[str], at: int) -> str:
    """Sparse rows of numbers with the class as attribute number `at`; the first label is left out of the rows."""
    declared = [f"@attribute f{j} numeric" for j in range(X.shape[1])]
    declared.insert(at, "@attribute kind {p, 'q q'}")
    lines = []
    for values, label in zip(X.tolist(), y, strict=True):
        cells = [f"{j + (j >= at)} {'?' if np.isnan(v) else repr(v)}" for j, v in enumerate(values) if v != 0]
        if label != "p":
            cells.insert(sum(int(cell.split()[0]) < at for cell in cells), f"{at} '{label}'")
        lines.append("{" + ", ".join(cells) + "}")
    return "\n".join(["@relation r", *declared, "@data", *lines])


@given(data=st.data(), rows=st.integers(1, 5), columns=st.integers(1, 6))
def test_sparse_rows_give_the_sparse_matrix(folder: Path, data: st.DataObject, rows: int, columns: int) -> None:
    value = st.just(0.0) | st.floats(allow_infinity=False)
    X = np.array(data.draw(st.lists(value, min_size=rows * columns, max_size=rows * columns))).reshape(rows, columns)
    y = data.draw(st.lists(st.sampled_from(("p", "q q")), min_size=rows, max_size=rows))
    at = data.draw(st.integers(0, columns))
    ours = read(folder, sparse_text(X, y, at), "kind")
    assert ours.is_sparse
    assert ours.X.format == "csr"
    assert ours.X.nnz == np.count_nonzero(X)
    assert ours.X.has_sorted_indices
    np.testing.assert_array_equal(ours.X.toarray(), X)
    assert ours.y.tolist() == y
    assert ours.feature_names.tolist() == [f"f{j}" for j in range(columns)]


def test_sparse_rows_with_words(folder: Path) -> None:
    header = "@relation r\n@attribute a {u, 'v v'}\n@attribute b real\n@attribute s string\n@attribute class integer\n"
    data = read(folder, header + "@data\n{}\n{0 'v v', 1 2.5, 2 free, 3 7}\n{0 ?, 1 ?}\n")
    assert rows_of(data) == [("u", 0.0, None), ("v v", 2.5, "free"), (None, None, None)]
    assert data.y.tolist() == [0, 7, 0]


def test_sparse_class_of_numbers(folder: Path) -> None:
    data = read(folder, "@relation r\n@attribute class real\n@attribute b real\n@data\n{1 2}\n{0 3, 1 0}\n{0 4}\n")
    assert data.y.tolist() == [0, 3, 4]
    assert data.X.toarray().tolist() == [[2], [0], [0]]
    assert data.X.nnz == 1


def test_the_class(folder: Path) -> None:
    body = "@attribute a real\n@attribute CLASS {p, q}\n@attribute y {r, s}\n@data\n1,p,r\n2,q,s\n"
    assert read(folder, f"@relation r\n{body}").target == "CLASS"
    assert read(folder, f"@relation r\n{body.replace('CLASS', 'b')}").target == "y"
    assert read(folder, f"@relation r\n{body}", "y").y.tolist() == ["r", "s"]
    with pytest.raises(DataError, match=r"no column is called 'z'; the columns are 'a', 'CLASS', 'y'"):
        read(folder, f"@relation r\n{body}", "z")


DRESSES = {
    "plain": """@relation r
@attribute a real
@attribute 'b c' {x, 'y z'}
@attribute class {p, q}
@data
1,x,p
?,'y z',q
""",
    "capitals": """@RELATION r

@Attribute a NUMERIC
@attribute "b c" {x,"y z"}
@ATTRIBUTE class{p,q}
@DATA
1,x,p
?,"y z",q""",
    "comments": """% 'x
@relation 'r
@attribute a real [0, 9] % it's
@attribute\t'b c'\t{ x , 'y z' }
@attribute class {p, q}
@data % rows

 1 , x , p % don't
% 'two
?,\t'y z' ,q\x20\x20

""",
    "string": """@relation r
@attribute a integer
@attribute 'b c' string
@attribute class {p,q}
@data
1,x,p
?,y z,q
""",
    "blanks": """@relation r
@attribute a real
@attribute 'b c' {x, 'y z'}
@attribute class {p, q}
@data
1 x p
 ?\t'y z'  q
""",
}


@pytest.mark.parametrize("text", DRESSES.values(), ids=DRESSES)
def test_the_same_table_in_many_dresses(folder: Path, text: str) -> None:
    for content in (text, text.replace("\n", "\r\n"), text.encode("utf-8-sig"), gzip.compress(text.encode())):
        data = read(folder, content)
        assert reader.looks_right(Source(folder / "toy.arff"))
        assert data.feature_names.tolist() == ["a", "b c"]
        assert rows_of(data) == [(1.0, "x"), (None, "y z")]
        assert data.y.tolist() == ["p", "q"]


def test_quotes_and_escapes(folder: Path) -> None:
    text = r"""@relation r
@attribute 'it\'s "a" name' {'?', "o'k", 'a\\b', 'p,q', '{r}', '50%', 'tab\tend', ''}
@attribute class {u}
@data
'?',u
?,u
"o'k",u
'o\'k',u
'a\\b',u
'p,q',u
'{r}',u
'50%',u
'tab\tend',u
'',u
"""
    data = read(folder, text)
    assert data.feature_names.tolist() == ['it\'s "a" name']
    expected = ["?", None, "o'k", "o'k", "a\\b", "p,q", "{r}", "50%", "tab\tend", ""]
    assert data.X.to_series().to_list() == expected


def test_the_content_tells_the_format(folder: Path) -> None:
    for content, answer in (
        (b"% one\n\n  % two\n  @Relation x\n", True),
        (b"\xef\xbb\xbf@relation x", True),
        (b"@relations x", False),
        (b"x\n@relation y", False),
        (b"% only a comment", False),
        (b"", False),
    ):
        (folder / "unnamed").write_bytes(content)
        assert reader.looks_right(Source(folder / "unnamed")) is answer, content


pieces = st.sampled_from(["@relation r\n", "@attribute ", "@data\n", "class", " numeric\n", *"a {}'\"\\,\n01%?-"])


@given(content=st.binary(max_size=60) | st.lists(pieces, max_size=30).map(lambda parts: "".join(parts).encode()))
@settings(max_examples=150)
def test_any_bytes_give_data_or_an_error(folder: Path, content: bytes) -> None:
    survives(reader, folder / "toy.arff", content)


@given(content=damaged([GOOD_ARFF, GOOD_SPARSE, GOOD_SPARSE.replace(b"b numeric", b"b {u, 'v w'}")]))
@settings(max_examples=150)
def test_damaged_files_give_data_or_an_error(folder: Path, content: bytes) -> None:
    survives(reader, folder / "toy.arff", content)
