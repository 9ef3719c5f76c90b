"""Convex network: a penalised sum of basis functions with the smallest loss, and the few of them that matter."""

from tamis.classify.convex_net.convex_net import ConvexNet as ConvexNet
