"""Clustering of subscriptions that share a multicast channel, and the cost of a clustering.

Heavy libraries (scikit-learn, networkx) are imported by the methods that need them.
"""

from roamcast.content.grouping.cluster import FilterCluster, GroupingCost, cost, least_constrained, point
from roamcast.content.grouping.hull import hull

__all__ = ["FilterCluster", "GroupingCost", "cost", "hull", "least_constrained", "point"]
