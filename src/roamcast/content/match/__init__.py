"""Which of many filters match an event."""

from roamcast.content.match.index import MatchIndex

__all__ = ["MatchIndex"]
