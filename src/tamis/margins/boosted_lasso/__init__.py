"""The boosted lasso: a path of solutions under a growing L1 norm, by small steps forward and backward."""
