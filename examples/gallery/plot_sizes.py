"""
How many features
=================

One ranking serves every number of features, so that a curve costs little more than a point. The best size is chosen
inside the folds, and the choice is evaluated on other rows.
"""

import matplotlib.pyplot as plt

import tamis
from tamis.validation.many import validate_many
from tamis.validation.nested import validate_nested

data = tamis.load("madelon-like")
recipes = "relieff({2, 5, 10, 20, 50, 100, 200, 500}) | knn(5)"
found = validate_many(recipes, data, folds=5)

sizes = [int(one.mean_selected) for one in found]
errors = [100 * one.estimates["ber"].mean for one in found]
widths = [100 * one.estimates["ber"].se for one in found]

plt.errorbar(sizes, errors, widths, fmt="o-", capsize=3)
plt.xscale("log")
plt.xlabel("features, by ReliefF")
plt.ylabel("balanced error rate (%)")
plt.axvline(20, color="grey", linewidth=1)
plt.text(21, max(errors) - 2, "20 real features")
plt.show()

# %%
# The lowest point of the curve is a little too good, since it was chosen. This one is not:
chosen = validate_nested(recipes, data, folds=5, inner_folds=3)
print(chosen.choice, f"{100 * chosen.validation.estimates['ber'].mean:.1f} %")
