"""Hybrid cluster tree: a gain-ratio tree on the averages of Ward clusters; the best tree selects."""

from tamis.select.cluster_tree.cluster_tree import ClusterTree as ClusterTree
