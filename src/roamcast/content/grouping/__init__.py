"""Grouping: which subscriptions share a multicast channel, and what that costs.

Heavy libraries (scikit-learn, networkx) are imported by the methods that need them.
"""

from roamcast.content.grouping.cluster import FilterCluster, GroupingCost, cost, least_constrained, point
from roamcast.content.grouping.hull import hull

__all__ = ["FilterCluster", "GroupingCost", "cost", "hull", "least_constrained", "point"]
