"""Probit regression with a Gaussian or Laplace prior on the weights."""

from tamis.classify.probit.probit import Probit as Probit
