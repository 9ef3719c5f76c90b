"""The function that a network computes, for one vector of weights, by NumPy or JAX."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tamis.base.types import FloatArray

#: What the outputs stand for: the log odds of two classes, log weights of several, or the mean of a number.
Kind: TypeAlias = Literal["logistic", "softmax", "gaussian"]


class Network(NamedTuple):
    """Numbers of inputs, of tanh units in each hidden layer, and of outputs.

    All weights stand in one vector, layer by layer: the matrix of a layer, row by row, and its biases.
    """

    inputs: int
    hidden: tuple[int, ...]
    outputs: int
    kind: Kind

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Units below and above each matrix of weights."""
        sizes = (self.inputs, *self.hidden, self.outputs)
        return tuple(pairwise(sizes))

    @property
    def n_weights(self) -> int:
        return sum(math.prod(shape) + shape[1] for shape in self.shapes)

    def layers(self, weights: Any) -> list[tuple[Any, Any]]:
        """The matrix and the biases of each layer, of a vector of all along the last axis: views of it."""
        found, start = [], 0
        for below, above in self.shapes:
            middle = start + below * above
            matrix = weights[..., start:middle].reshape(*weights.shape[:-1], below, above)
            found.append((matrix, weights[..., middle : middle + above]))
            start = middle + above
        return found

    def evaluate(self, weights: Any, X: Any, tanh: Callable[[Any], Any] = np.tanh) -> Any:
        """The outputs for each row, before the logistic function or the softmax.

        Examples
        --------
        >>> Network(1, (1,), 1, "gaussian").evaluate(np.array([1.0, 0.0, 2.0, 3.0]), np.array([[0.0], [50.0]]))
        array([[3.], [5.]])
        """
        *hidden, (matrix, biases) = self.layers(weights)
        for below, bias in hidden:
            X = tanh(X @ below + bias)
        return X @ matrix + biases

    def without_padding(self, weights: FloatArray, inputs: int) -> FloatArray:
        """Vectors of weights along the last axis, less those of the inputs from number `inputs` on."""
        above = self.shapes[0][1]
        return np.concatenate([weights[..., : inputs * above], weights[..., self.inputs * above :]], axis=-1)
