"""Decision trees: sorted columns, the best split, growing and pruning, rules and figures."""
