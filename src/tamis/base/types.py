"""Names for the arrays that pass between rooms."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
#: Class codes; or numbers, as float64, where the task is to predict them.
Target: TypeAlias = Any
#: A dense array or a CSR/CSC matrix, already validated.
Matrix: TypeAlias = Any
