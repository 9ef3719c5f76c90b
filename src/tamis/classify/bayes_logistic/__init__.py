"""Bayesian logistic regression with automatic relevance determination."""

from tamis.classify.bayes_logistic.bayes_logistic import BayesLogistic as BayesLogistic
