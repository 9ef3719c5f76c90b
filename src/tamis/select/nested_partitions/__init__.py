"""Nested partitions: decide one column after the other, in or out, by random sets from the regions that this leaves."""

from tamis.select.nested_partitions.nested_partitions import NestedPartitions as NestedPartitions
