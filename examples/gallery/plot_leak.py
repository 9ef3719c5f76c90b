"""
The leak
========

Select features on all rows first, cross-validate the classifier afterwards, and noise looks like a discovery. Here the
classes are random, so that every honest error is about 50 %.
"""

import matplotlib.pyplot as plt
import numpy as np

import tamis

rng = np.random.default_rng(0)
y = np.repeat(["healthy", "ill"], 40)
X = rng.normal(size=(80, 5000))

sizes = [5, 20, 100, 500]
found = [tamis.validate(f"cc({k}) | svm(linear)", X, y, folds=5, repeats=3, leak_check=True) for k in sizes]

# %%
# ``leak`` is the same with the selection made on all rows.
honest = [100 * one.estimates["ber"].mean for one in found]
leaky = [100 * one.leak.estimates["ber"].mean for one in found]

plt.plot(sizes, honest, "o-", label="selection inside the folds")
plt.plot(sizes, leaky, "s--", label="selection on all rows first")
plt.axhline(50, color="grey", linewidth=1)
plt.xscale("log")
plt.ylim(0, 70)
plt.xlabel("features selected, of 5000 columns of noise")
plt.ylabel("balanced error rate (%)")
plt.legend()
plt.show()
