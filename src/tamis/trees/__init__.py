"""Decision trees: sorted columns, the best split, growing and pruning; the rooms to the right make parts of them."""
