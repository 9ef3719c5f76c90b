"""Small matrices with ties, zeros of both signs and missing values, their classes, and the forms a matrix may have."""

import numpy as np
import scipy.sparse as sp
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

NAN = float("nan")
VALUES = [0.0, 0.0, -0.0, 1.0, 2.0, 3.0, 4.5, -1.0, -2.5, NAN]


@st.composite
def problems(draw, values=VALUES, most=18):
    n, p = draw(st.integers(2, most)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    X = draw(hnp.arrays(dtype, (n, p), elements=st.sampled_from(values), fill=st.nothing()))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, draw(st.integers(1, 3)))))
    assume(np.unique(y).size > 1)
    return X, np.unique(y, return_inverse=True)[1]


def layouts(X):
    """The same matrix in every form, one of them with its zeros stored."""
    wide = np.full((X.shape[0], 2 * X.shape[1]), 7.0, dtype=X.dtype)
    wide[:, ::2] = X
    stored = sp.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    return [X, np.asfortranarray(X), wide[:, ::2], sp.csr_array(X), sp.csc_matrix(X), stored]
