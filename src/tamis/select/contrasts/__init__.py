"""Artificial contrasts: select the columns that ensembles of trees rank above permuted copies of all columns."""

from tamis.select.contrasts.contrasts import Contrasts as Contrasts
