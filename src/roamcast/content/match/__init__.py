"""The index that finds the filters that match an event."""

from roamcast.content.match.index import MatchIndex

__all__ = ["MatchIndex"]
