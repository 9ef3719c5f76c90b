"""
Are the same features selected again?
=====================================

A selection that changes from fold to fold says little about the features, even where the error is good. Stability is 1
for equal selections and about 0 for selections as alike as random ones.
"""

import matplotlib.pyplot as plt

import tamis

data = tamis.load("madelon-like")
recipes = {
    "cc": "cc(20) | knn(5)",
    "ssv": "ssv(20) | knn(5)",
    "relieff": "relieff(20) | knn(5)",
    "mrmr": "mrmr(20) | knn(5)",
}
found = {name: tamis.validate(recipe, data, folds=10) for name, recipe in recipes.items()}

for name, one in found.items():
    low, high = one.stability.interval
    error = 100 * one.estimates["ber"].mean
    plt.errorbar(
        error, one.stability.index, [[one.stability.index - low], [high - one.stability.index]], fmt="o", capsize=3
    )
    plt.annotate(name, (error, one.stability.index), xytext=(6, 4), textcoords="offset points")
plt.xlabel("balanced error rate (%)")
plt.ylabel("stability of 20 selected features over ten folds")
plt.ylim(0, 1.05)
plt.show()
