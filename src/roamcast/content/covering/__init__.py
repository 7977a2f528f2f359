"""Covering: which filters stand for others, remembered and kept up to date as filters come and go."""

from roamcast.content.covering.cover import Cover
from roamcast.content.covering.relations import Relations

__all__ = ["Cover", "Relations"]
