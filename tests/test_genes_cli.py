"""``tamis genes`` from a biologist's files to the table, the page and JSON; genes as rows in other commands."""

import gzip
import json
import re
import warnings

import numpy as np
import polars as pl
import pytest

from tamis.data.synthetic.infection import infection
from tamis.genes import Expression, find_markers
from tamis.reporting.figures_genes import fold_figure, group_figures
from tamis.reporting.genes_page import genes_page


@pytest.fixture(scope="module")
def made():
    return infection(n_genes=300, n_markers=12)


@pytest.fixture
def files(made, tmp_path):
    own = Expression.of_dataset(made)
    own.frame().write_csv(tmp_path / "genes.csv")
    own.sheet().with_columns(time=pl.col("time").cast(pl.String) + "h").write_csv(tmp_path / "sheet.csv")
    return tmp_path / "genes.csv", "--samples", tmp_path / "sheet.csv"


def test_from_files_to_markers(tamis, files, made, tmp_path):
    table, page = tmp_path / "markers.csv", tmp_path / "page.html"
    code, text, error = tamis("genes", *files, "--table", table, "--report", page, "--top", 3, "--delta", 0.5)
    assert (code, error) == (0, "")
    assert "genes: 300 genes, 32 samples, at 0.5, 2, 4, 8, 16, 24, 48, 72 h" in text
    assert "12 markers: log2 of infected over mock at least 1.5 or at most minus that, at 48, 72 h" in text
    assert "the first 3\n" in text
    assert re.search(r"\d+ maximal pClusters of markers", text)
    found = pl.read_csv(table)
    assert set(found["gene"]) == set(made.feature_names[made.roles == "informative"])
    assert found.columns[-1] == "fold 72 h"
    html = page.read_text()
    assert html.count("<svg") > 2
    assert all(name in html for name in found["gene"])
    assert "<script" not in html


def test_json_has_everything(tamis, files):
    code, text, _ = tamis("genes", *files, "--json", "--late", 1, "--tolerance", 50, "--fine", 50)
    found = json.loads(text)
    assert code == 0
    assert (found["genes"], found["samples"], found["unit"], found["late"]) == (300, 32, "h", [72.0])
    assert (found["control"], found["treated"]) == ("mock", "infected")
    assert found["kept"] + sum(one["removed"] for one in found["filters"]) == 300
    assert sum(found["clusters"]) == found["kept"] == found["grouped"]
    assert set(found["markers"][0]) >= {"gene", "group", "direction", "q", "fold 72 h"}
    assert "p_clusters" not in found


def test_python_and_the_command_agree(tamis, files, made):
    found = json.loads(tamis("genes", *files, "--json", "--metric", "euclidean", "--level", 2, "--min-fold", 2)[1])
    own = find_markers(Expression.of_dataset(made), metric="euclidean", level=2, min_fold=2.0)
    assert [one["gene"] for one in found["markers"]] == own.markers.tolist()
    assert found["groups"] == own.n_groups
    assert found["clusters"] == own.to_dict()["clusters"]


def test_notes_and_errors(tamis, files, tmp_path):
    genes, _, sheet = files
    sheet.write_text(sheet.read_text().replace("sample 1,", "sample X,"))
    code, _, error = tamis("genes", *files)
    assert code == 0
    assert error.splitlines()[0].startswith(f"note: samples of {sheet} are not in {genes}: 'sample X'")
    for options, message in (
        (["--control", "no"], "control 'no' is no condition; there are 'infected', 'mock'"),
        (["--time", "when"], "no column is called 'when'"),
        (["--page", tmp_path / "no" / "p.html"], "cannot be written (there is no folder"),
        (["--drop", "x"], "--drop is not for expression over time"),
        (["--min-observations", 99], "min_observations must be at most the 16 columns; got 99"),
    ):
        code, text, error = tamis("genes", *files, *options)
        assert (code, text) == (2, "")
        assert message in error
        assert len(error.splitlines()) == 1


def test_the_page_escapes_names_and_does_without_markers(made):
    own = Expression.of_dataset(made)
    names = np.array([f"<i>{name}</i>" for name in own.genes])
    renamed = Expression(own.values, names, own.samples, own.times, own.conditions, "<b>")
    page = genes_page(find_markers(renamed))
    assert "<i>g" not in page
    assert "<b></bdi>" not in page
    assert "&lt;i&gt;g" in page
    none = find_markers(own, min_fold=99.0)
    assert fold_figure(none) is None
    assert group_figures(none) == []
    assert "<svg" not in genes_page(none)


def test_the_figures_show_the_group(made):
    found = find_markers(Expression.of_dataset(made), tolerance=60.0, fine=60.0)
    figures = group_figures(found, most=3)
    assert len(figures) == 3
    first = found.marker_groups[0]
    treated, control = figures[0].panels[0].marks[-2:]
    assert (treated.label, control.label) == ("infected", "mock")
    logs = np.log2(found.expression.profiles("infected")[found.groups == first])
    np.testing.assert_allclose(treated.y, logs.mean(axis=0))
    sizes = [int(found.is_marker[found.groups == group].sum()) for group in found.marker_groups]
    assert sizes == sorted(sizes, reverse=True)


def test_twenty_thousand_genes_as_rows_need_one_flag(tamis, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.integers(50, 900, (20_000, 100))
    X[:30] *= 1 + 3 * y
    names = [f"S{j}" for j in range(100)]
    rows = ["gene," + ",".join(names), "class," + ",".join("ill" if one else "well" for one in y)]
    rows += [f"G{i}," + ",".join(map(str, row)) for i, row in enumerate(X.tolist())]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    code, text, _ = tamis("rank", tmp_path / "wide.csv", "t", "--transpose", "--json", "--top", 30)
    found = json.loads(text)
    assert code == 0
    assert (found["rows"], found["features"]) == (100, 20_000)
    assert {one["feature"] for one in found["ranking"]} == {f"G{i}" for i in range(30)}


@pytest.mark.slow
def test_twenty_thousand_genes_as_rows_are_mined(tamis, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(100) % 2)
    X = rng.normal(8, 1, (20_000, 100)).round(3)
    X[:30] += 3 * y
    frame = pl.DataFrame(X, schema=[f"S{j}" for j in range(100)])
    frame.insert_column(0, pl.Series("gene", [f"G{i}" for i in range(20_000)])).write_csv("genes.csv")
    classes = ["ill" if one else "well" for one in y]
    pl.DataFrame({"sample": [f"S{j}" for j in range(100)], "class": classes}).reverse().write_csv("samples.csv")
    options = ("--trials", 6, "--engine", "serial", "--folds", 2, "--seed", 0, "--json")
    code, text, _ = tamis("mine", "genes.csv", "--transpose", "--labels", "samples.csv", *options)
    assert code == 0
    assert '"G' in text


def test_annotations_of_anndata_files_hold_times_and_conditions(tamis, made, tmp_path):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    own = Expression.of_dataset(made)
    obs = pd.DataFrame({"hours": own.times, "treatment": pd.Categorical(own.conditions)}, index=list(own.samples))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what anndata says of pandas
        with anndata.settings.override(allow_write_nullable_strings=True):
            held = anndata.AnnData(own.values.T, obs=obs, var=pd.DataFrame(index=list(own.genes)))
            held.write_h5ad(tmp_path / "cells.h5ad")
    code, text, _ = tamis("genes", tmp_path / "cells.h5ad", "--json")
    assert code == 0
    markers = json.loads(text)["markers"]
    assert {one["gene"] for one in markers} == set(made.feature_names[made.roles == "informative"])
    code, text, _ = tamis("rank", tmp_path / "cells.h5ad", "t", "--target", "treatment", "--json", "--top", 5)
    assert code == 0
    assert json.loads(text)["features"] == 300


@pytest.mark.parametrize("suffix", [".gct", ".gct.gz"])
def test_gct_files_have_genes_as_rows_by_their_nature(tamis, made, tmp_path, suffix):
    own = Expression.of_dataset(made)
    head = [f"#1.3\n{own.genes.size}\t{own.samples.size}\t0\t2", "\t".join(["id", *own.samples])]
    notes = ["\t".join(["hours", *map(str, own.times)]), "\t".join(["treatment", *own.conditions])]
    rows = ["\t".join([gene, *map(str, row)]) for gene, row in zip(own.genes, own.values.tolist(), strict=True)]
    text = "\n".join(head + notes + rows) + "\n"
    path = tmp_path / f"genes{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    code, text, _ = tamis("genes", path, "--json")
    assert code == 0
    assert {one["gene"] for one in json.loads(text)["markers"]} == set(made.feature_names[made.roles == "informative"])
    code, text, _ = tamis("rank", path, "t", "--target", "treatment", "--json", "--top", 5)
    found = json.loads(text)
    assert (code, found["rows"], found["features"]) == (0, 32, 300)
    code, _, error = tamis("mine", path, "--target", "treatment", "--transpose")
    assert code == 2
    assert "--transpose is not for gct files" in error
