"""Tf-idf by hand and against scikit-learn's; sparse = dense; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import trace_columns
from tamis.select import Ranking
from tamis.transform import Tfidf

COUNTS = np.array([[3.0, 0.0, 1.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [4.0, 0.0, 0.0]])

tables = hnp.arrays(np.float64, (7, 5), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0]))


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def test_by_hand():
    # Salton and Buckley's "ltc": (1 + log t) log(n / df), over its length.
    found = Tfidf(True, idf="plain").fit_transform(COUNTS)
    np.testing.assert_allclose(found, [[0, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]])
    raw = Tfidf(True, idf="plain", norm=None).fit_transform(np.array([[2.0, 1.0], [0.0, 3.0], [0.0, 0.0]]))
    expected = [[(1 + np.log(2)) * np.log(3), np.log(1.5)], [0, (1 + np.log(3)) * np.log(1.5)], [0, 0]]
    np.testing.assert_allclose(raw, expected)


@given(tables, tables, st.booleans(), st.sampled_from(["smooth", None]), st.sampled_from(["l2", "l1", None]))
def test_equals_scikit_learn(train, test, sublinear, idf, norm):
    peer = TfidfTransformer(norm=norm, use_idf=idf is not None, sublinear_tf=sublinear).fit(sp.csr_array(train))
    expected = peer.transform(sp.csr_array(test)).toarray()
    for form in (np.asarray, sp.csr_array, sp.csc_matrix):
        model = Tfidf(sublinear, idf=idf, norm=norm).fit(form(train))
        found = model.transform(form(test))
        assert sp.issparse(found) == sp.issparse(form(test))
        np.testing.assert_allclose(dense(found), expected, atol=1e-12)


def test_new_rows_are_weighed_by_the_training_rows():
    model = Tfidf(idf="plain", norm=None).fit(COUNTS)
    np.testing.assert_allclose(model.transform([[1.0, 1.0, 2.0]]), [[0, np.log(4), 2 * np.log(4)]])
    # A word of no training document counts as if one had it.
    model = Tfidf(idf="plain", norm=None).fit(np.array([[1.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_allclose(model.transform([[1.0, 1.0]]), [[0, np.log(2)]])


def test_stored_zeros_and_duplicates_count_as_what_they_are():
    X = sp.csr_array((np.array([1.0, 2.0, 0.0]), np.array([0, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    expected = Tfidf(True, norm=None).fit_transform(np.array([[3.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(Tfidf(True, norm=None).fit_transform(X).toarray(), expected)
    assert X.nnz == 3


def test_columns_stay_distinct():
    model = make_pipeline(Ranking(k=2), Tfidf()).fit(COUNTS, [0, 0, 1, 1])
    assert trace_columns(model, 3).shape == (2,)
    assert Tfidf().fit(COUNTS).get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c"]
    assert Tfidf(True).fit_transform(COUNTS.astype(np.float32)).dtype == np.float32


def test_bad_input():
    with pytest.raises(TamisError, match="Negative values in data passed to tfidf; it takes counts"):
        Tfidf().fit(-COUNTS)
    with pytest.raises(TamisError, match="Negative values"):
        Tfidf().fit(COUNTS).transform(sp.csr_array(-COUNTS))
    with pytest.raises(ValueError, match="NaN"):
        Tfidf().fit(np.array([[1.0, np.nan]]))
    for bad in ({"sublinear": "log"}, {"idf": "bm25"}, {"norm": "max"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Tfidf(**bad).fit(COUNTS)
