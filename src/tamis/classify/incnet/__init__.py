"""IncNet: a radial network that grows and is pruned while a Kalman filter trains it."""

from tamis.classify.incnet.incnet import IncNet as IncNet
