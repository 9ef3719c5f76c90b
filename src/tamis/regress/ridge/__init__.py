"""Ridge regression: least squares with a penalty on the squared weights."""

from tamis.regress.ridge.ridge import Ridge as Ridge
