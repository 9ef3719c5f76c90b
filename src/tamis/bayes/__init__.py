"""Bayesian neural networks: the model, its priors, and the sampler of its posterior."""
