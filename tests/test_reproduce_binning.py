"""The oscillating example of Katz (2005): the printed rows, bins, likelihoods and counts."""

import numpy as np
import pytest

from study_figures import described
from tamis.reproduce import binning
from tamis.reproduce.binning import STUDY, chi_square_bins, example, ranuni
from tamis.reproduce.framework.study import Task

TASK = Task()


def test_the_rows_are_those_of_the_paper():
    x, y, d = example(ranuni(59137, 101))
    assert (x.size, d.sum()) == (101, 49)
    place = np.searchsorted(binning._CUTS, x, side="right")
    shares = [d[place == b].mean() for b in range(9)]
    np.testing.assert_allclose(shares, binning._SHARES, atol=5e-6)
    assert (d[y >= 0.8] == 1).all()
    assert (d[y <= 0.2] == 0).all()


def test_the_table_is_the_printed_one():
    found = binning._table(TASK)
    for name, printed in binning._PRINTED.items():
        assert found["rows"][name][0] == pytest.approx(printed[0], abs=6e-4), name
        assert found["rows"][name][1:] == list(printed[1:]), name
    np.testing.assert_allclose(found["shares"], binning._SHARES, atol=5e-6)
    np.testing.assert_allclose(found["cuts"], binning._CUTS, atol=0.005)
    assert found["rows"]["b"][1] + found["rows"]["b"][4] == 44 + 48


def test_splits_of_most_chi_square():
    assert chi_square_bins(np.repeat([0, 1], 20)) == [20]
    assert chi_square_bins(np.tile([0, 1], 20)) == []
    assert chi_square_bins(np.repeat([0, 1, 0], 20)) == [20, 40]


def test_tables_show_what_is_there():
    findings = {("", "table"): binning._table(TASK), ("", "fresh draws"): binning._fresh(TASK, 3)}
    table, bins, fresh = STUDY.tables(findings)
    assert len(table.lines) == 8
    assert all(len(line) == len(one.columns) for one in (table, bins, fresh) for line in one.lines)
    assert STUDY.tables({}) == []
    assert binning._fresh(TASK, 3) == findings["", "fresh draws"]
    assert STUDY.data == ()
    drawn = described(STUDY, findings)
    assert list(drawn) == ["predictor", "likelihoods", "fresh"]
    assert len(drawn["predictor"]["d, the target"]["x"]) == 101
    assert drawn["predictor"]["b, here"]["y"][:-1] == findings["", "table"]["shares"]
    np.testing.assert_allclose(
        drawn["likelihoods"]["here"]["length"], drawn["likelihoods"]["printed"]["length"], atol=6e-4
    )
