"""Grouping: which subscriptions share a multicast channel, and what that costs.

Heavy libraries (scikit-learn, networkx) are imported by the methods that need them.
"""

from roamcast.content.grouping.group import Cost, Group, cost, least_constrained, point
from roamcast.content.grouping.hull import hull

__all__ = ["Cost", "Group", "cost", "hull", "least_constrained", "point"]
