"""mRMR: select one column after another, relevant to the classes and little redundant with those before."""

from tamis.select.mrmr.mrmr import MRMR as MRMR
