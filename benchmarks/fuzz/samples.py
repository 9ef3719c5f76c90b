"""Sound files of every format, recipes and models, which mutations begin with."""

import gzip
import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.io
import scipy.sparse as sp
from sklearn import ensemble, linear_model, naive_bayes, neighbors, svm, tree
from sklearn.base import is_regressor

from tamis.base.errors import TamisError
from tamis.base.seeds import seeded
from tamis.compose.catalog import entries
from tamis.compose.model_file import card_of, save_model

RECIPES = (
    "standardize | cc(700) | svm(linear)",
    "impute | encode | ssv(3) | knn(auto)",
    "committee(3, cc(2) | svm(linear, C=1))",
    "vote(cc(3), ssv(3), at_least=1) | tree",
    "normalize | relieff(fraction=0.5, n_neighbors=3) | knn(5, metric=canberra)",
    "discretize(modl) | nb(distribution=states)",
    "blend(knn(3), nb, svm(gaussian, sigma=2.5)) ",
    "f(fdr=0.05) | pca(4) | lda",
    "bin_means(min_rows=5, output=ordered) | lasso(alpha=auto)",
)

#: Parts that draw from a posterior, with few draws.
_QUICK: dict[str, dict[str, Any]] = {
    "bayes_net": {"hidden": 3, "draws": 20, "warmup": 20, "chains": 1, "leapfrog": 5},
}


def files() -> dict[str, list[tuple[str, bytes]]]:
    """Names and contents of sound files, by format."""
    X = np.array([[1.5, 0.0, 3.0], [0.0, 2.0, 1e3], [4.0, 0.5, 0.0], [2.5, 1.0, 1.0]])
    y = np.array([1, 2, 1, 2])
    frame = pl.DataFrame(
        {
            "size": [1.5, None, 3.0, 4.0],
            "colour": ["r", "g", None, "r"],
            "rank": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Categorical),
            "flag": [True, False, None, True],
            "count": [1, 2, 3, None],
            "class": ["x", "y", "x", "y"],
        }
    )
    many = pl.concat([frame] * 50)
    plain = frame.drop("rank")
    csv = many.head(12).write_csv().encode()
    mats = [{"X": X, "y": y}, {"X": sp.csc_matrix(X), "y": y}]
    doc = (
        '<REUTERS TOPICS="YES" LEWISSPLIT="{}" NEWID="{}"><TOPICS><D>{}</D></TOPICS>'
        "<TEXT><TITLE>T &lt;</TITLE><BODY>{}</BODY></TEXT></REUTERS>\n"
    )
    reuters = "<!DOCTYPE lewis SYSTEM>\n" + "".join(
        doc.format(part, i, topic, text)
        for i, (part, topic, text) in enumerate(
            [("TRAIN", "grain", "wheat and corn"), ("TRAIN", "crude", "oil rose"), ("TEST", "grain", "corn fell")]
        )
    )
    gct = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\ng1\tone\t1.5\t2\t3\ng2\ttwo\t4\t\t6\n"
    geo = (
        '!Series_title\t"t"\n!Sample_title\t"a"\t"b"\t"c"\n'
        '!Sample_characteristics_ch1\t"tissue: x"\t"tissue: y"\t"tissue: x"\n'
        '!series_matrix_table_begin\n"ID_REF"\t"S1"\t"S2"\t"S3"\n"g1"\t1\t2.5\t3\n"g2"\t4\t\t6\n!series_matrix_table_end\n'
    )
    arff = (
        "% toy\n@relation toy\n@attribute size numeric\n@attribute 'main colour' {red, 'dark blue'}\n"
        "@attribute class {x, y}\n@data\n1.5,red,x\n?,'dark blue',y\n3,?,x\n"
    )
    sparse_arff = (
        "@relation toy\n@attribute a numeric\n@attribute b numeric\n@attribute class {x, y}\n"
        "@data\n{0 1.5, 2 y}\n{}\n{1 ?, 2 x}\n"
    )
    orange = "size\tcolour\tkind\nc\td\td\n\t\tclass\n1.5\tr\tx\n2\tg\ty\n?\tr\tx\n"
    lines = plain.write_ndjson().encode()
    return {
        "csv": [("t.csv", csv), ("t.tsv", csv.replace(b",", b"\t")), ("t.csv.gz", gzip.compress(csv, mtime=0))],
        "arff": [("t.arff", arff.encode()), ("t.arff", sparse_arff.encode())],
        "jsonl": [("t.jsonl", lines), ("t.json", b"[" + lines.strip().replace(b"\n", b",") + b"]")],
        "parquet": [("t.parquet", _parquet(one, **how)) for one in (frame, many) for how in _HOW],
        "npz": [
            ("t.npz", _npz(X=X, y=y)),
            ("t.npz", _npz(X=X, y=y, feature_names=np.array(["a", "b", "c"]))),
            ("t.npz", _npz(X_train=X, y_train=y, X_test=X, y_test=y)),
        ],
        "mat": [("t.mat", _mat(one, do_compression=packed)) for one in mats for packed in (False, True)],
        "svmlight": [("t.svm", b"1 1:2 3:4.5 # remark\n-1 2:1e3\n"), ("t.svm", b"1 qid:1 1:2\n2 qid:1 3:1\n")],
        "xlsx": [("t.xlsx", _workbook(plain))],
        "orange": [("t.tab", orange.encode())],
        "gct": [("t.gct", gct.encode())],
        "geo": [("t_series_matrix.txt", geo.encode())],
        "reuters": [("reut2-000.sgm", reuters.encode())],
        "challenge": [
            ("t_train.data", b"1 2 3\n4 5 6\n7 8 9\n"),
            ("t_train.data", b"1:2 3:1\n2:5\n\n"),
            ("t_train.data", b"1 3\n2\n3\n"),
        ],
    }


_HOW: tuple[dict[str, Any], ...] = (
    {"compression": "uncompressed"},
    {"compression": "zstd"},
    {"compression": "snappy", "row_group_size": 64, "data_page_size": 100},
    {"compression": "uncompressed", "statistics": False, "row_group_size": 2},
    {"compression": "lz4"},
    {"compression": "gzip"},
)


def _parquet(frame: pl.DataFrame, **how: Any) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file, **how)
    return file.getvalue()


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _mat(variables: dict[str, Any], **how: Any) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, variables, **how)
    return file.getvalue()


def _workbook(frame: pl.DataFrame) -> bytes:
    """A workbook of one sheet with its texts in place."""
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    cells = "".join(
        "<row>"
        + "".join(
            f'<c r="{chr(65 + j)}{i}" t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c r="{chr(65 + j)}{i}"><v>{float(value)}</v></c>'
            for j, value in enumerate(row)
            if value is not None
        )
        + "</row>"
        for i, row in enumerate([frame.columns, *frame.rows()], 1)
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType='
        f'"{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/s1.xml" '
        f'ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/'
        'officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type='
        f'"{office}/worksheet" Target="worksheets/s1.xml"/></Relationships>',
        "xl/worksheets/s1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, head + text)
    return file.getvalue()


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes that the models are fitted on."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = np.abs(rng.normal(size=(30, 5))) * (rng.random((30, 5)) < 0.8)
    X[:, 2] += y
    return X, y


def _estimators() -> list[Any]:
    """Every classifier and regressor of the catalog, and those of scikit-learn whose state compiled code follows."""
    parts = [part for part in entries() if part.kind in ("classifier", "regressor")]
    own = [seeded(part.make(**_QUICK.get(part.name, {})), 0) for part in parts]
    return [
        *own,
        svm.SVC(random_state=0),
        svm.SVC(kernel="linear", probability=False),
        svm.NuSVC(nu=0.3),
        svm.SVR(),
        svm.NuSVR(),
        tree.DecisionTreeClassifier(random_state=0),
        ensemble.RandomForestClassifier(3, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=2, random_state=0),
        ensemble.HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3),
        neighbors.KNeighborsClassifier(3, algorithm="brute"),
        naive_bayes.GaussianNB(),
        linear_model.LogisticRegression(),
    ]


def write_models(folder: Path) -> list[Path]:
    """Model files of all these, dense and, where it is taken, sparse."""
    X, y = rows()
    paths = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, model in enumerate(_estimators()):
            forms = [X, sp.csr_array(X)] if model.__sklearn_tags__().input_tags.sparse else [X]
            for form in forms:
                path = folder / f"{number:03}-{len(paths):03}.tamis"
                try:
                    model.fit(form, y * 1.5 if is_regressor(model) else y)
                    save_model(path, model, card_of(model, form, y, recipe="x"))
                except (TamisError, ImportError):
                    # A committee needs members, and some models cannot be saved.
                    continue
                paths.append(path)
    return paths
