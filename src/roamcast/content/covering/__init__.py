"""Covering: which filters stand for others, remembered and kept up to date as filters come and go."""

from roamcast.content.covering.cover import MinimalCover
from roamcast.content.covering.relations import RelationCache

__all__ = ["MinimalCover", "RelationCache"]
