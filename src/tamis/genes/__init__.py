"""Gene expression over time under two conditions: cleaning, patterns, and genes that mark one of the conditions."""

from tamis.genes.expression import Expression
from tamis.genes.expression_files import read_expression
from tamis.genes.markers import MarkerSearch, find_markers
from tamis.genes.pattern_clusters import PCluster, pclusters

__all__ = ["Expression", "MarkerSearch", "PCluster", "find_markers", "pclusters", "read_expression"]
