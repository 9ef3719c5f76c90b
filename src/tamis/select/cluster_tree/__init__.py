"""Hybrid cluster tree: a gain-ratio tree on the averages of Ward clusters; the variables of the best tree are kept."""

from tamis.select.cluster_tree.cluster_tree import ClusterTree

__all__ = ["ClusterTree"]
