"""
Features that help only together
================================

The class is the parity of the signs of two features. Each is useless by itself, so that scores of single features find
nothing. ReliefF compares near rows in all features and finds both.
"""

import matplotlib.pyplot as plt
import numpy as np

import tamis

data = tamis.load("xor")
real = data.roles == "informative"

figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharex=True, layout="constrained")
for axis, score in zip(axes, ("cc", "mi", "relieff"), strict=True):
    table = tamis.rank(data, by=score).sort("column")
    values = table["score"].to_numpy()
    columns = np.arange(values.size)
    axis.bar(columns[~real], values[~real], color="lightgrey", label="useless")
    axis.bar(columns[real], values[real], color="tab:red", label="real")
    axis.set_title(score)
    axis.set_xlabel("feature")
axes[0].set_ylabel("score")
axes[0].legend()
plt.show()
