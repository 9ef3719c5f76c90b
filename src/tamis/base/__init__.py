"""What every part shares: the contracts of scores, cuts, selectors and classifiers."""
