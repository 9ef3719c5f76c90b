"""Malformed tables: what is wrong with each, and a piece of the sentence that must say so.

`BAD_TABLES` lists (case, file name, content, piece of the message). All are read without a target.
"""

import datetime
import gzip
from io import BytesIO
from typing import Any

import polars as pl

GOOD_CSV = b"size,colour,class\n" + b"".join(f"{i}.5,{'rgb'[i % 3]},{'xy'[i % 2]}\n".encode() for i in range(12))
GOOD_ARFF = (
    b"% a toy\n@relation toy\n@attribute size numeric\n@attribute 'main colour' {red, 'dark blue'}\n"
    b"@attribute class {x, y}\n@data\n1.5,red,x\n?,'dark blue',y\n3,?,x\n"
)
GOOD_SPARSE = (
    b"@relation toy\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@attribute class {x, y}\n"
    b"@data\n{0 1.5, 3 y}\n{}\n{1 ?, 2 4}\n"
)


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    """The bytes of a Parquet file."""
    file = BytesIO()
    pl.DataFrame(columns).write_parquet(file, **options)
    return file.getvalue()


GOOD_PARQUET = parquet({"size": [1.5, None, 3.0], "colour": ["r", "g", None], "class": ["x", "y", "x"]})


def _arff(attributes: bytes, *rows: bytes) -> bytes:
    return b"@relation toy\n" + attributes + b"\n@data\n" + b"\n".join(rows) + b"\n"


def _sparse(*rows: bytes) -> bytes:
    return GOOD_SPARSE.partition(b"@data\n")[0] + b"@data\n" + b"\n".join(rows) + b"\n"


_TWO = b"@attribute a numeric\n@attribute class {x, y}"

_DELIMITED = [
    ("empty", "t.csv", b"", "is empty"),
    ("blank", "t.csv", b" \n\t\n\r\n", "is empty"),
    ("only a header", "t.csv", b"a,b,class\n", "has no rows"),
    ("short row", "t.csv", b"a,b,class\n1,2,x\n3,y\n5,6,x\n", "line 3: has 2 values where line 1 has 3"),
    ("long row", "t.csv", b"a,b,class\n1,2,x\n3,4,5,y\n5,6,x\n", "line 3: has 4 values where line 1 has 3"),
    ("row of one value", "t.tsv", b"a\tb\tclass\n1\t2\tx\n3\n", "line 3: has 1 value where line 1 has 3"),
    ("ragged after a blank line", "t.csv", b"a;b;class\n1;2;x\n\n\n3;y\n4;5;x\n", "line 5: has 2 values"),
    ("ragged with quotes", "t.csv", b'a,b,class\n1,"p\nq",x\n3,"r"\n', "line 4: has 2 values where line 1 has 3"),
    ("ragged blanks", "t.csv", b"a b class\n1 2 x\n 3  y\n4 5 x\n", "line 3: has 2 values where line 1 has 3"),
    ("cut in the middle", "t.csv", GOOD_CSV[:-4], "line 13: has 2 values where line 1 has 3"),
    (
        "word among numbers",
        "t.csv",
        GOOD_CSV.replace(b"7.5", b"seven"),
        "line 9, column 'size': 'seven' is not a number",
    ),
    ("unclosed quote", "t.csv", b'a,b,class\n1,2,x\n3,"4,y\n5,6,x\n', "line 3, column 2: a quote is not closed"),
    ("quote closed early", "t.csv", b'a,b,class\n1,"p"q,x\n3,"r",y\n', "line 2, column 2: a quote is not closed, or"),
    ("duplicate names", "t.csv", b"a,b,a,class\n1,2,3,x\n4,5,6,y\n", "columns 1 and 3 are both called 'a'"),
    ("no label", "t.csv", b"a,class\n1,NA\n2,?\n3,\n", "the class 'class' is missing in all rows"),
    ("infinity", "t.csv", b"a,b,class\n1,2,x\n3,-inf,y\n", "line 3, column 'b': holds an infinite number"),
    ("number that overflows", "t.csv", b"a,b,class\n1,2,x\n3,1e999,y\n", "line 3, column 'b': holds an infinite"),
    ("infinite label", "t.csv", b"a,class\n1,2\n3,inf\n", "line 3, column 'class': holds an infinite number"),
    (
        "no class column",
        "t.csv",
        b"a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n",
        "name the class with --target; the columns are 'a', 'b'",
    ),
    ("no header and no class", "t.csv", b"1,2,x\n3,4,y\n", "the columns are 'x1', 'x2', 'x3'"),
    ("one column", "t.csv", b"class\nx\ny\n", "splits its lines into columns"),
    (
        "free text as class",
        "t.csv",
        b"a,class\n1,x\n2," + b"word " * 300 + b"\n",
        "line 3: the class 'class' is a text of 1499",
    ),
    ("NUL byte", "t.csv", b"a,class\n1,x\n2,\x00\n", "line 3: contains a NUL byte"),
    ("no 8-bit text", "t.csv", b"a,class\n1,caf\xe9\n2,\x81\n", "line 2: is not UTF-8 text, nor UTF-16 or cp1252"),
    ("binary junk", "t.csv", bytes(range(1, 256)), "is not UTF-8 text"),
    ("UTF-16 cut short", "t.csv", "a,class\n1,x\n".encode("utf-16")[:-1], "is not utf-16 text; --encoding names"),
    (
        "second header",
        "t.csv",
        b"a,b,class\nkg,cm,\n1,2,x\n3,4,y\n5,6,y\n",
        "line 2: holds words ('kg', 'cm') above columns of numbers",
    ),
    ("title", "t.csv", b"Table 1,,\na,b,class\n1,2,x\n3,4,y\n", "line 1: names 1 of 3 columns, like a title"),
    ("money", "t.csv", b"a,class\n$5,x\n$6,y\n", "line 2, column 'a': '$5' is an amount of money"),
    ("text called xlsx", "t.xlsx", GOOD_CSV, "is not an Excel workbook"),
    ("gct cut short", "t.gct", b"#1.2\n2\t1\n", "ends before its header"),
    ("geo cut short", "t_series_matrix.txt", b'!Series_title\t"x"\n', "has no line !series_matrix_table_begin"),
    ("gz in name only", "t.csv.gz", GOOD_CSV, "is named .gz but is not gzip data"),
    ("truncated gz", "t.csv.gz", gzip.compress(GOOD_CSV)[:-12], "the gzip data is damaged or cut short"),
    ("flipped gz", "t.csv.gz", gzip.compress(GOOD_CSV)[:-6] + b"\x00\x00\x00\x00\x00\x00", "the gzip data is damaged"),
    ("empty gz", "t.csv.gz", gzip.compress(b""), "is empty"),
]

_ARFF = [
    ("no data section", "t.arff", GOOD_ARFF.partition(b"@data")[0], "has no @data line"),
    ("no attributes", "t.arff", b"@relation r\n@data\n1,2\n", "line 2: @data comes before any @attribute"),
    ("no rows", "t.arff", _arff(_TWO, b"% none"), "has no rows"),
    (
        "unknown type",
        "t.arff",
        _arff(b"@attribute a colour\n" + _TWO, b"1,2,x"),
        "line 2: type 'colour' of 'a' is unknown",
    ),
    ("no type", "t.arff", _arff(b"@attribute a\n" + _TWO, b"1,2,x"), "line 2: type '' of 'a' is unknown"),
    ("no name", "t.arff", _arff(b"@attribute\n" + _TWO, b"1,2,x"), "line 2: @attribute needs a name and a type"),
    (
        "date",
        "t.arff",
        _arff(b"@attribute a date 'yyyy'\n" + _TWO, b"1,2,x"),
        "line 2: type 'date' of 'a' is not supported",
    ),
    (
        "unclosed brace",
        "t.arff",
        _arff(b"@attribute a numeric\n@attribute class {x, y", b"1,x"),
        "line 3: the values of 'class' have no closing brace",
    ),
    (
        "unclosed quote in the header",
        "t.arff",
        _arff(b"@attribute 'a numeric\n" + _TWO, b"1,2,x"),
        "line 2: a quote is not closed",
    ),
    ("unclosed quote in a row", "t.arff", _arff(_TWO, b"1,x", b"2,'x"), "line 6: a quote is not closed"),
    (
        "stray word in the header",
        "t.arff",
        _arff(b"attribute a numeric\n" + _TWO, b"1,2,x"),
        "line 2: 'attribute' is none of",
    ),
    (
        "names twice",
        "t.arff",
        _arff(b"@attribute class real\n" + _TWO, b"1,2,x"),
        "columns 1 and 3 are both called 'class'",
    ),
    ("only a class", "t.arff", _arff(b"@attribute class {x, y}", b"x", b"y"), "has no feature column beside 'class'"),
    (
        "value not declared",
        "t.arff",
        _arff(_TWO, b"1,x", b"", b"2,z"),
        "line 7, attribute 'class': 'z' is not one of the declared",
    ),
    ("too few values", "t.arff", _arff(_TWO, b"1,x", b"2"), "line 6: has 1 value for 2 attributes"),
    ("too many values", "t.arff", _arff(_TWO, b"1,2,x", b"2,x"), "line 5: has 3 values for 2 attributes"),
    (
        "empty value",
        "t.arff",
        _arff(_TWO, b"1,x", b",y"),
        "line 6, attribute 'a': is empty; a missing value is written ?",
    ),
    ("word for a number", "t.arff", _arff(_TWO, b"1,x", b"two,y"), "line 6, attribute 'a': 'two' is not a number"),
    ("infinite number", "t.arff", _arff(_TWO, b"1,x", b"inf,y"), "line 6, column 'a': holds an infinite number"),
    ("no class known", "t.arff", _arff(_TWO, b"1,?", b"2,?"), "the class 'class' is missing in all rows"),
    ("cut in a row", "t.arff", GOOD_ARFF[:-5], "line 9: has 1 value for 3 attributes"),
    ("weight", "t.arff", _arff(_TWO, b"1,x", b"2,y,{5}"), "line 6: instance weights are not supported"),
    (
        "sparse index past the end",
        "t.arff",
        _sparse(b"{0 1}", b"{4 1}"),
        "line 8: index '4' is not a whole number from 0 to 3",
    ),
    ("sparse index of many digits", "t.arff", _sparse(b"{%s 1}" % (b"9" * 5000)), "line 7: index '9999"),
    ("sparse index negative", "t.arff", _sparse(b"{-1 1}"), "line 7: index '-1' is not a whole number from 0 to 3"),
    ("sparse indices fall", "t.arff", _sparse(b"{2 1, 1 3}"), "line 7: index 1 follows index 2, and indices must rise"),
    ("sparse index twice", "t.arff", _sparse(b"{1 1, 1 3}"), "line 7: index 1 follows index 1"),
    ("sparse value alone", "t.arff", _sparse(b"{0 1, 3}"), "line 7: '3' is not an index and a value"),
    ("sparse row not closed", "t.arff", _sparse(b"{0 1, 3 x"), "line 7: a sparse row must end in one brace"),
    ("sparse row with a weight", "t.arff", _sparse(b"{0 1, 3 x}, {5}"), "line 7: instance weights are not supported"),
    ("dense row among sparse ones", "t.arff", _sparse(b"{0 1}", b"1,2,3,x"), "line 8: is not a sparse row in braces"),
    ("sparse value not declared", "t.arff", _sparse(b"{0 1, 3 z}"), "line 7, attribute 'class': 'z' is not one of the"),
    ("sparse word for a number", "t.arff", _sparse(b"{0 1, 2 z}"), "line 7, attribute 'c': 'z' is not a number"),
    ("sparse infinity", "t.arff", _sparse(b"{0 1}", b"{1 -inf}"), "line 8, column 'b': holds an infinite number"),
]

_PARQUET = [
    ("cut short", "t.parquet", GOOD_PARQUET[:-20], "is not a Parquet file, or is cut short"),
    ("text", "t.parquet", GOOD_CSV, "is not a Parquet file"),
    ("damaged", "t.parquet", b"PAR1" + b"\xff" * 60 + b"PAR1", "is a damaged Parquet file"),
    ("no footer", "t.parquet", GOOD_PARQUET[:40] + GOOD_PARQUET[-8:], "is a damaged Parquet file"),
    (
        "date",
        "t.parquet",
        parquet({"when": [datetime.date(2003, 12, 8)], "class": ["x"]}),
        "column 'when': has type Date",
    ),
    ("list", "t.parquet", parquet({"a": [[1, 2]], "class": ["x"]}), "column 'a': has type List"),
    ("no rows", "t.parquet", parquet({"a": [], "class": []}), "has no rows"),
    ("only a class", "t.parquet", parquet({"class": ["x", "y"]}), "has no feature column beside 'class'"),
    ("no class", "t.parquet", parquet({"a": [1.0], "b": [2.0]}), "the columns are 'a', 'b'"),
    (
        "missing label",
        "t.parquet",
        parquet({"a": [1.0, 2.0], "class": [None, None]}),
        "the class 'class' is missing in all rows",
    ),
    (
        "infinity",
        "t.parquet",
        parquet({"a": [1.0, float("inf")], "class": ["x", "y"]}),
        "row 2, column 'a': holds an infinite",
    ),
]

BAD_TABLES: list[tuple[str, str, bytes, str]] = [
    (f"{kind}: {case}", name, content, piece)
    for kind, cases in (("csv", _DELIMITED), ("arff", _ARFF), ("parquet", _PARQUET))
    for case, name, content, piece in cases
]
