"""Covering between filters: a cache of relations, and minimal covers that follow changes of a set of
filters.
"""

from roamcast.content.covering.cover import MinimalCover
from roamcast.content.covering.relations import RelationCache

__all__ = ["MinimalCover", "RelationCache"]
