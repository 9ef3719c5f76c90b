"""Tables as people have them: each is read right, or refused in one sentence that says what helps."""

import gzip
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from expression_files import GCT2, GCT3, GEO
from reading import put, rows_of
from tamis.base.errors import DataError
from tamis.data.load import read
from tamis.data.reading import Reading
from workbooks import workbook


@dataclass(frozen=True)
class Read:
    """What a table must become; values are compared exactly, None is missing."""

    content: str | bytes
    rows: list[tuple[Any, ...]]
    y: list[Any] = field(default_factory=lambda: ["p", "q"])
    names: list[str] = field(default_factory=lambda: ["a", "b"])
    target: str | None = None
    notes: tuple[str, ...] = ()  # pieces of the notes, in order; no more notes than these
    file: str = "t.csv"
    options: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, str | bytes] = field(default_factory=dict)  # files beside it


@dataclass(frozen=True)
class Refused:
    """What a table must be refused with: pieces of the sentence."""

    content: str | bytes
    pieces: tuple[str, ...]
    target: str | None = None
    file: str = "t.csv"
    options: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, str | bytes] = field(default_factory=dict)


COMMAS = ("decimal commas, such as 1,5",)
TWO = [(1.5, 2.0), (2.5, 3.0)]
NA = [
    "NA",
    "N/A",
    "n/a",
    "nan",
    "NaN",
    "NULL",
    "null",
    "none",
    "None",
    "#N/A",
    "#DIV/0!",
    "#VALUE!",
    "?",
    "-",
    "--",
    ".",
]
TEN = "".join(f"{i},{i}.5,{'pq'[i % 2]}\n" for i in range(10))
GENES = "gene,s1,s2,s3\ng1,1,2,3\ng2,4,5.5,NA\n"
GENE_ROWS = [(1.0, 4.0), (2.0, 5.5), (3.0, None)]
FIRST_ROW = "first row of the file names the rows"
BOOK = [["a", "b", "class"], [1.5, 2, "p"], [2.5, 3, "q"]]

LAYOUTS: dict[str, Read | Refused] = {
    # The plain case has no notes.
    "plain": Read("a,b,class\n1.5,2,p\n2.5,3,q\n", TWO),
    "semicolon with points": Read("a;b;class\n1.5;2;p\n2.5;3;q\n", TWO),
    "bars": Read("a|b|class\n1.5|2|p\n2.5|3|q\n", TWO),
    "tabs in .txt": Read("a\tb\tclass\n1.5\t2\tp\n2.5\t3\tq\n", TWO, file="t.txt"),
    "colons, which must be named": Read("a:b:class\n1.5:2:p\n2.5:3:q\n", TWO, options={"delimiter": ":"}),
    "colons, not named": Refused("a:b:class\n1.5:2:p\n2.5:3:q\n", ("splits its lines", "--delimiter")),
    "Windows line ends": Read("a,b,class\r\n1.5,2,p\r\n2.5,3,q\r\n", TWO),
    "old Mac line ends": Read("a,b,class\r1.5,2,p\r2.5,3,q\r", TWO),
    "blank lines at the end": Read("a,b,class\n1.5,2,p\n2.5,3,q\n\n  \n\n", TWO),
    "scientific and mixed whole numbers": Read("a,b,class\n1.5E-03,2,p\n25,3.5,q\n", [(0.0015, 2.0), (25.0, 3.5)]),
    "blanks around numbers": Read("a, b, class\n 1.5 , 2 , p\n2.5,  3,q\n", TWO),
    "gzipped": Read(gzip.compress(b"a,b,class\n1.5,2,p\n2.5,3,q\n"), TWO, file="t.csv.gz"),
    # Decimal commas.
    "German Excel": Read("a;b;class\r\n1,5;2;p\r\n2,5;3;q\r\n", TWO, notes=COMMAS),
    "German Excel, cp1252": Read(
        "Größe;b;class\n1,5;2;p\n2,5;3;ü\n".encode("cp1252"),
        TWO,
        ["p", "ü"],
        ["Größe", "b"],
        notes=("is cp1252", *COMMAS),
    ),
    "German Excel, Unicode text": Read(
        "a\tb\tclass\r\n1,5\t2\tp\r\n2,5\t3\tü\r\n".encode("utf-16"),
        TWO,
        ["p", "ü"],
        notes=("is UTF-16", *COMMAS),
        file="t.txt",
    ),
    "UTF-16 without a mark": Read("a;b;class\n1.5;2;p\n2.5;3;q\n".encode("utf-16-le"), TWO, notes=("is UTF-16-LE",)),
    "UTF-8 with a mark": Read(b"\xef\xbb\xbfa,b,class\n1.5,2,p\n2.5,3,\xc3\xbc\n", TWO, ["p", "ü"]),
    "Mac Roman, which must be named": Read(
        "a,b,class\n1.5,2,p\n2.5,3,ü\n".encode("mac-roman"), TWO, ["p", "ü"], options={"encoding": "mac-roman"}
    ),
    "decimal commas in quotes": Read('a,b,class\n"1,5","2,0",p\n"2,5","3,0",q\n', TWO, notes=COMMAS),
    "decimal commas between blanks": Read("a b class\n1,5 2 p\n2,5 3 q\n", TWO, notes=COMMAS),
    "decimal commas without a header": Read(
        "1,5;2,0;p\n2,5;3,0;q\n", TWO, names=["x1", "x2"], target="x3", notes=COMMAS
    ),
    "decimal commas with exponents": Read(
        "a;b;class\n1,5E-3;2;p\n2,5;3;q\n", [(0.0015, 2.0), (2.5, 3.0)], notes=("1,5E-3",)
    ),
    "Excel's line about the delimiter": Read("sep=;\na;b;class\n1,5;2;p\n2,5;3;q\n", TWO, notes=COMMAS),
    "commas in one column, points in another": Read(
        "a;b;class\n1,5;2.25;p\n2,5;3.5;q\n", [(1.5, 2.25), (2.5, 3.5)], notes=COMMAS
    ),
    # Thousands.
    "English thousands": Read('a,b,class\n"1,234.5",2,p\n7,3,q\n', [(1234.5, 2.0), (7.0, 3.0)], notes=("1,234.5",)),
    "German thousands": Read(
        "a;b;class\n1.234,5;2;p\n7;3;q\n", [(1234.5, 2.0), (7.0, 3.0)], notes=("decimal commas", "as in 1.234,5")
    ),
    "French thousands": Read(
        "a;b;class\n1\u202f234,5;2;p\n7;3;q\n",
        [(1234.5, 2.0), (7.0, 3.0)],
        notes=("decimal commas", "thousands marks"),
    ),
    "Swiss thousands": Read("a;b;class\n1'234.5;2;p\n7;3;q\n", [(1234.5, 2.0), (7.0, 3.0)], notes=("as in 1'234.5",)),
    "points are thousands beside decimal commas": Read(
        "a;b;class\n1,5;1.234;p\n2,5;12.345;q\n",
        [(1.5, 1234.0), (2.5, 12345.0)],
        notes=("decimal commas", "points are thousands marks in 'b'"),
    ),
    "either reading, semicolons": Read(
        "a;b;class\n1,234;2;p\n2,500;3;q\n", [(1.234, 2.0), (2.5, 3.0)], notes=("--decimal . would read 1,234 as 1234",)
    ),
    "either reading, commas": Read(
        'a,b,class\n"1,234",2,p\n"2,500",3,q\n',
        [(1234.0, 2.0), (2500.0, 3.0)],
        notes=("--decimal , would read 1,234 as 1.234",),
    ),
    "either reading, told": Read(
        'a,b,class\n"1,234",2,p\n"2,500",3,q\n', [(1.234, 2.0), (2.5, 3.0)], options={"decimal": ","}
    ),
    "either reading beside decimal points": Read(
        "a;b;class\n1,234;2.5;p\n2,500;3;q\n",
        [(1234.0, 2.5), (2500.0, 3.0)],
        notes=("--decimal , would read 1,234 as 1.234",),
    ),
    # Missing values.
    "all spellings of missing": Read(
        "a,b,class\n1.5,2,p\n" + "".join(f"{mark},3,q\n" for mark in NA),
        [(1.5, 2.0), *[(None, 3.0)] * len(NA)],
        ["p", *["q"] * len(NA)],
    ),
    "a spelling of one's own": Read(
        "a,b,class\n1.5,n. d.,p\n2.5,3,q\n", [(1.5, None), (2.5, 3.0)], options={"na": ["n. d."]}
    ),
    "a number for missing": Read(
        "a,b,class\n1.5,-999,p\n-999.0,3,q\n", [(1.5, None), (None, 3.0)], options={"na": ["-999"]}
    ),
    "SPSS's blanks and points": Read("a\tb\tclass\n1.5\t \tp\n.\t3\tq\n", [(1.5, None), (None, 3.0)]),
    "rows without a class": Read(
        "a,b,class\n1.5,2,p\n9,9,\n2.5,3,q\n9,9,NA\n", TWO, notes=("2 rows without a class are left out",)
    ),
    "rows of delimiters at the end": Read("a,b,class\n1.5,2,p\n2.5,3,q\n,,\n", TWO, notes=("1 row without a class",)),
    "junk among numbers": Refused(
        "a,b,class\n" + TEN + "11,junk here,q\n", ("line 12, column 'b'", "--na 'junk here'")
    ),
    "infinity": Refused("a,b,class\n1,inf,p\n2,3,q\n", ("line 2, column 'b'", "infinite", "--na inf")),
    "infinity as missing": Read("a,b,class\n1.5,inf,p\n2.5,3,q\n", [(1.5, None), (2.5, 3.0)], options={"na": ["inf"]}),
    # Limits, units, money, truth.
    "detection limits": Read(
        "a,b,class\n<0.01,2,p\n0.5,3,q\n0.7,>100,q\n0.9,5,q\n",
        [(0.01, 2.0), (0.5, 3.0), (0.7, 100.0), (0.9, 5.0)],
        ["p", "q", "q", "q"],
        notes=("2 values below or above a detection limit, such as <0.01, are taken as the limit",),
    ),
    "groups that look like limits": Read("a,b,class\n<18,2,p\n>65,3,q\n", [("<18", 2.0), (">65", 3.0)]),
    "percent": Read("a,b,class\n12 %,2,p\n7.5%,3,q\n", [(12.0, 2.0), (7.5, 3.0)], notes=("% of 'a'",)),
    "units": Read("a,b,class\n12 mg/dl,2,p\n7.5 mg/dl,NA,q\n", [(12.0, 2.0), (7.5, None)], notes=("mg/dl of 'a'",)),
    "a unit in some rows only": Read("a,b,class\n12 mg,2,p\n7.5,3,q\n", [("12 mg", 2.0), ("7.5", 3.0)]),
    "two units": Read("a,b,class\n12 mg,2,p\n7 kg,3,q\n", [("12 mg", 2.0), ("7 kg", 3.0)]),
    "codes are words": Read("a,b,class\n1a,2,p\n2a,3,q\n", [("1a", 2.0), ("2a", 3.0)]),
    "dates are words": Read(
        "a,b,class\n01.02.2024,2024-01-02,p\n02.02.2024,2024-02-02,q\n",
        [("01.02.2024", "2024-01-02"), ("02.02.2024", "2024-02-02")],
    ),
    "money": Refused("a,b,class\n$12.50,2,p\n$7,3,q\n", ("line 2, column 'a'", "'$12.50' is an amount of money")),
    "true and false, yes and no": Read("a,b,class\nTRUE,yes,p\nFALSE,no,q\n", [(1.0, "yes"), (0.0, "no")]),
    "a minus sign of typography": Read("a,b,class\n\u22121.5,2,p\n2.5,3,q\n", [(-1.5, 2.0), (2.5, 3.0)]),
    # What stands around the values.
    "comment lines": Read(
        "# made by X\n# on Monday, at 5\na,b,class\n1.5,2,p\n2.5,3,q\n", TWO, notes=("2 comment lines",)
    ),
    "a header behind a hash": Read("# made by X\n#a,b,class\n1.5,2,p\n2.5,3,q\n", TWO, notes=("1 comment line",)),
    "R's write.table": Read(
        '"a" "b" "class"\n"r1" 1.5 2 "p"\n"r2" 2.5 3 "q"\n',
        [("r1", 1.5, 2.0), ("r2", 2.5, 3.0)],
        names=["row name", "a", "b"],
        notes=("first column is called 'row name'",),
        file="t.txt",
    ),
    "R's write.table, rows counted": Read(
        '"a" "b" "class"\n"1" 1.5 2 "p"\n"2" 2.5 3 "q"\n', TWO, notes=("numbers of the rows in front are left out",)
    ),
    "R's write.csv2": Read(
        '"";"a";"b";"class"\n"1";1,5;2;"p"\n"2";2,5;3;"q"\n',
        TWO,
        notes=("first column of the file names the rows", *COMMAS),
    ),
    "pandas' unnamed index": Read(",a,b,class\n0,1.5,2,p\n1,2.5,3,q\n", TWO, notes=("names the rows and is left out",)),
    "a delimiter at the end of all lines": Read("a;b;class;\n1.5;2;p;\n2.5;3;q;\n", TWO),
    "a delimiter at the end of all lines but the header": Read("a;b;class\n1.5;2;p;\n2.5;3;q;\n", TWO),
    "the class first": Read("class,a,b\np,1.5,2\nq,2.5,3\n", TWO),
    "the class named oddly": Read('a,b,"Diagnose, (final)"\n1.5,2,p\n2.5,3,q\n', TWO, target="Diagnose, (final)"),
    "the class misspelt": Refused("a,b,klasse\n1,2,p\n3,4,q\n", ("'klase'", "the nearest is 'klasse'"), "klase"),
    "no class named": Refused("a,b,c\n1,2,p\n3,4,q\n", ("name the class with --target",)),
    "one name twice": Refused("a,a,class\n1,2,p\n3,4,q\n", ("columns 1 and 2 are both called 'a'",)),
    "ragged": Refused("a,b,class\n1,2,p\n3,4\n5,6,q\n", ("line 3: has 2 values where line 1 has 3", "--delimiter")),
    "a row of units": Refused(
        "a,b,class\nkg,cm,\n1,2,p\n3,4,q\n5,6,q\n", ("line 2: holds words ('kg', 'cm')", "one line of names")
    ),
    "merged header cells": Refused(
        "Blood,,Outcome\na,b,class\n1,2,p\n3,4,q\n5,6,p\n", ("line 1: names 2 of 3 columns", "one line of names")
    ),
    "a title above": Refused(
        "My table,,\na,b,class\n1,2,p\n3,4,q\n", ("line 1: names 1 of 3 columns", "one line of names")
    ),
    # Genes as rows, labels elsewhere.
    "transposed with classes": Read(
        "gene,s1,s2,s3\nclass,p,q,p\ng1,1,2,3\ng2,4,5.5,NA\n",
        GENE_ROWS,
        ["p", "q", "p"],
        ["g1", "g2"],
        notes=(FIRST_ROW,),
        options={"transpose": True},
    ),
    "transposed, the class in front": Read(
        "class,p,q,p\ng1,1,2,3\ng2,4,5.5,NA\n", GENE_ROWS, ["p", "q", "p"], ["g1", "g2"], options={"transpose": True}
    ),
    "transposed with labels": Read(
        GENES,
        [GENE_ROWS[2], GENE_ROWS[0]][::-1],
        ["lo", "hi"],
        ["g1", "g2"],
        notes=(FIRST_ROW, "1 row of", "1 row without a class"),
        options={"transpose": True, "labels": "labels.csv"},
        others={"labels.csv": "sample;grade\ns3;hi\ns1;lo\ns9;hi\n"},
    ),
    "labels on a common column": Read(
        "id,a,b\n007,1.5,2\n8,2.5,3\n",
        TWO,
        options={"labels": "labels.csv"},
        others={"labels.csv": "class,id\nq,8\np,7\n"},
    ),
    "labels on a named column": Read(
        "id,a,b\nk,1.5,2\nl,2.5,3\n",
        TWO,
        options={"labels": "labels.csv", "on": "id"},
        others={"labels.csv": "id,b,class\nl,0,q\nk,0,p\n"},
    ),
    "labels in order": Read(
        "a,b\n1.5,2\n2.5,3\n",
        TWO,
        notes=("linked by the order",),
        options={"labels": "labels.txt"},
        others={"labels.txt": "p\nq\n"},
    ),
    "labels on several columns": Refused(
        "id,a,b\nk,1.5,2\nl,2.5,3\n",
        ("shares 'id', 'b'", "--on"),
        options={"labels": "labels.csv"},
        others={"labels.csv": "id,b,class\nl,0,q\nk,0,p\n"},
    ),
    "labels of other rows": Refused(
        "id,a\nk,1.5\nl,2.5\n",
        ("none of its rows is in", "'k' is not, for one", "--on"),
        options={"labels": "labels.csv"},
        others={"labels.csv": "id,class\nx,q\ny,p\n"},
    ),
    "labels twice": Refused(
        "id,a\nk,1.5\nl,2.5\n",
        ("labels.csv: 'k' occurs twice",),
        options={"labels": "labels.csv"},
        others={"labels.csv": "id,class\nk,q\nk,p\n"},
    ),
    "labels too few, in order": Refused(
        "a,b\n1.5,2\n2.5,3\n",
        ("labels.txt: has 5 classes for 2 rows", "--on"),
        options={"labels": "labels.txt"},
        others={"labels.txt": "p\nq\np\np\np\n"},
    ),
    # Other files.
    "xlsx": Read(workbook({"Sheet1": BOOK}), TWO, file="t.xlsx"),
    "xlsx with several sheets": Read(
        workbook({"Data": BOOK, "Notes": [["by hand"]]}),
        TWO,
        notes=("'Data', is read; the others are 'Notes'",),
        file="t.xlsx",
    ),
    "xlsx with text, errors, truth and holes": Read(
        workbook(
            {
                "S": [
                    ["a", "b", "c", "class"],
                    ["1,5", True, None, "p"],
                    ["2,5", False, 1e-15 / 3, "q"],
                    ["#N/A", True, 7, "p"],
                ]
            }
        ),
        [(1.5, 1.0, None), (2.5, 0.0, 1e-15 / 3), (None, 1.0, 7.0)],
        ["p", "q", "p"],
        ["a", "b", "c"],
        notes=COMMAS,
        file="t.xlsx",
    ),
    "xlsx that does not begin in A1": Read(
        workbook({"S": [[], [None, *BOOK[0]], [None, *BOOK[1]], [], [None, *BOOK[2]]]}), TWO, file="t.xlsx"
    ),
    "xlsx with a title": Refused(
        workbook({"S": [["Title"], *BOOK]}), ("row 1: names 1 of 3", "one line"), file="t.xlsx"
    ),
    "xlsx with junk": Refused(
        workbook({"S": [["a", "class"], *[[i, "pq"[i % 2]] for i in range(10)], ["oops", "p"]]}),
        ("row 12, column 'a'", "--na oops"),
        file="t.xlsx",
    ),
    "xlsx, empty": Refused(workbook({"S": []}), ("first sheet is empty",), file="t.xlsx"),
    "gct 1.2 with labels": Read(
        GCT2,
        GENE_ROWS,
        ["p", "q", "p"],
        ["g1", "g2"],
        options={"labels": "l.csv"},
        others={"l.csv": "sample,class\ns1,p\ns2,q\ns3,p\n"},
        file="t.gct",
    ),
    "gct 1.2 without": Refused(GCT2, ("no class is known", "--labels"), file="t.gct"),
    "gct 1.3": Read(
        GCT3,
        GENE_ROWS[:2],
        ["yes", "no"],
        ["g1", "g2"],
        "ill",
        ("1 row without a class", "no features: 'age'"),
        file="t.gct",
    ),
    "gct 1.3, no annotation named": Refused(GCT3, ("--target", "'age', 'ill'"), file="t.gct"),
    "gct cut short": Refused(
        GCT3[: GCT3.rindex("g2")], ("line 2: states 2 genes and there are 1",), "ill", file="t.gct"
    ),
    "geo": Read(
        gzip.compress(GEO.encode()),
        GENE_ROWS,
        ["liver", "lung", "liver"],
        ["g1", "g2"],
        "tissue",
        ("no features: 'title', 'age'",),
        file="GSE1_series_matrix.txt.gz",
    ),
    "geo, misspelt": Refused(GEO, ("'tisue'", "the nearest is 'tissue'"), "tisue", file="GSE1_series_matrix.txt"),
    "geo cut short": Refused(
        GEO[:-20], ("has no line !series_matrix_table_end",), "age", file="GSE1_series_matrix.txt"
    ),
    # Documents; folders of them are in test_reader_documents.py.
    "json lines": Read('{"a": 1.5, "b": 2, "class": "p"}\n{"class": "q", "b": 3, "a": 2.5}\n', TWO, file="t.jsonl"),
    "json lines, gzipped": Read(
        gzip.compress(b'{"a": 1.5, "b": 2, "class": "p"}\n{"a": 2.5, "b": 3, "class": "q"}\n'), TWO, file="t.ndjson.gz"
    ),
    "json lines with holes, text and truth": Read(
        '{"a": null, "b": "red", "class": "p"}\n\n{"a": true, "class": "q"}\n',
        [(None, "red"), (1.0, None)],
        file="t.jsonl",
    ),
    "json lines with numbers in quotes": Read(
        '{"a": "1,5", "b": "NA", "class": "p"}\n{"a": "2,5", "b": "3", "class": "q"}\n',
        [(1.5, None), (2.5, 3.0)],
        notes=COMMAS,
        file="t.jsonl",
    ),
    "json lines in cp1252": Read(
        '{"a": "caf\u00e9", "b": 2, "class": "p"}\n{"a": "tea", "b": 3, "class": "q"}\n'.encode("cp1252"),
        [("caf\u00e9", 2.0), ("tea", 3.0)],
        notes=("the text is cp1252",),
        file="t.jsonl",
    ),
    "one list of objects": Read(
        '[\n {"a": 1.5, "b": 2, "class": "p"},\n {"a": 2.5, "b": 3, "class": "q"}\n]', TWO, file="t.json"
    ),
    "json lines with labels elsewhere": Read(
        '{"id": "k", "a": 1.5, "b": 2}\n{"id": "l", "a": 2.5, "b": 3}\n',
        TWO,
        options={"labels": "labels.csv"},
        others={"labels.csv": "id,class\nl,q\nk,p\n"},
        file="t.jsonl",
    ),
    "json lines, cut short": Refused(
        '{"a": 1, "class": "p"}\n{"a": 2, "cl', ("line 2, column 10", "cut short"), file="t.jsonl"
    ),
    "json lines, nested": Refused(
        '{"a": 1, "class": "p"}\n{"a": {"b": 2}, "class": "q"}\n', ("line 2: 'a' is an object",), file="t.jsonl"
    ),
    "json lines with junk": Refused(
        "".join(f'{{"a": {i}, "class": "{"pq"[i % 2]}"}}\n' for i in range(10)) + '{"a": "oops", "class": "p"}\n',
        ("line 11, column 'a'", "--na oops"),
        file="t.jsonl",
    ),
    "json lines without a class": Refused('{"a": 1}\n{"a": 2}\n', ("name the class with --target",), file="t.jsonl"),
    "json, one object": Refused('{"a": [1, 2],\n "class": ["p", "q"]}\n', ("line 1", "is not JSON"), file="t.json"),
    "json lines, empty": Refused("\n \n", ("is empty",), file="t.jsonl"),
    "Orange": Read("a\tb\tkind\nc\tcontinuous\td\n\t\tclass\n1.5\t2\tp\n2.5\t3\tq\n", TWO, file="t.tab"),
    "Orange with words that look like numbers": Read(
        "a\tb\tkind\nd\tcontinuous\t1 2\n\t\tclass\n1\t2\t1\n2\t?\t2\n", [("1", 2.0), ("2", None)], [1, 2], file="t.tab"
    ),
    "Orange with meta and ignored columns": Read(
        "id\ta\tx\tb\tkind\nstring\tc\tc\tc\td\nmeta\t\tignore\t\tclass\nk\t1.5\t0\t2\tp\nl\t2.5\toops\t3\tq\n",
        TWO,
        notes=("the flag meta are left out: 'id'", "the flag ignore are left out: 'x'"),
        file="t.tab",
    ),
    "Orange with two classes": Refused(
        "a\tb\tkind\nc\td\td\n\tclass\tclass\n1\tu\tp\n", ("'b', 'kind'", "--target"), file="t.tab"
    ),
    "Orange with a word for a number": Refused(
        "a\tkind\ncontinuous\td\n\tclass\nslow\tp\n2\tq\n", ("line 4: 'slow' is no number", "--na"), file="t.tab"
    ),
    "Orange, cut short": Refused("a\tkind\ncontinuous\td\n\tclass\n", ("has no rows",), file="t.tab"),
    "a plain table called .tab": Read("a\tb\tclass\n1.5\t2\tp\n2.5\t3\tq\n", TWO, file="t.tab"),
    "a plain table of letters called .tab": Read(
        "a\tclass\nd\tc\nc\td\n", [("d",), ("c",)], ["c", "d"], ["a"], file="t.tab"
    ),
    "Reuters": Read(
        '<!DOCTYPE lewis>\n<REUTERS NEWID="1"><TOPICS><D>tea</D></TOPICS><TEXT><TITLE>Up</TITLE><BODY>a &lt; b</BODY>'
        '</TEXT></REUTERS>\n<REUTERS NEWID="2"><TOPICS><D>tin</D><D>ore</D></TOPICS><TEXT TYPE="UNPROC">x</TEXT>'
        "</REUTERS>",
        [("Up", "a < b"), (None, "x")],
        ["tea", "tin;ore"],
        ["title", "body"],
        notes=("1 of 2 documents have several labels",),
        file="t.sgm",
    ),
    "Reuters, cut short": Refused(
        '<!DOCTYPE lewis>\n<REUTERS NEWID="1"><TOPICS><D>tea</D></TOPICS><TEXT>', ("line 2", "cut short"), file="t.sgm"
    ),
    "other SGML": Refused("<!DOCTYPE html>\n<html></html>\n", ("has no <REUTERS> document",), file="t.sgm"),
    # What has no meaning for a file.
    "transposing a data set of another kind": Refused(
        "@relation r\n@attribute a real\n@attribute class {p,q}\n@data\n1,p\n2,q\n",
        ("--transpose is not for arff files",),
        file="t.arff",
        options={"transpose": True},
    ),
    "harmless for a file of another kind": Read(
        "@relation r\n@attribute a real\n@attribute class {p,q}\n@data\n1,p\n2,q\n",
        [(1.0,), (2.0,)],
        names=["a"],
        file="t.arff",
        options={"decimal": ",", "delimiter": "tab"},
    ),
}


def test_there_are_many_of_them() -> None:
    assert len(LAYOUTS) >= 40


def _load(folder: Path, layout: Read | Refused) -> Any:
    shutil.rmtree(folder, ignore_errors=True)
    put(folder, {layout.file: layout.content, **layout.others})
    options = dict(layout.options)
    if "labels" in options:
        options["labels"] = folder / options["labels"]
    return read(folder / layout.file, layout.target, Reading(**options))


@pytest.mark.parametrize("case", [case for case, layout in LAYOUTS.items() if isinstance(layout, Read)])
def test_read_right(tmp_path: Path, case: str) -> None:
    layout = LAYOUTS[case]
    assert isinstance(layout, Read)
    data = _load(tmp_path / "d", layout)
    assert data.feature_names.tolist() == layout.names
    assert rows_of(data) == layout.rows
    assert data.y.tolist() == layout.y
    assert data.nominal.tolist() == [
        any(isinstance(row[j], str) for row in layout.rows) for j in range(data.n_features)
    ]
    assert len(data.notes) == len(layout.notes), data.notes
    for piece, note in zip(layout.notes, data.notes, strict=True):
        assert piece in note


@pytest.mark.parametrize("case", [case for case, layout in LAYOUTS.items() if isinstance(layout, Refused)])
def test_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    layout = LAYOUTS[case]
    assert isinstance(layout, Refused)
    with pytest.raises(DataError) as caught:
        _load(tmp_path / "d", layout)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(str(tmp_path))
    for piece in layout.pieces:
        assert piece in message
