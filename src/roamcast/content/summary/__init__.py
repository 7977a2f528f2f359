"""Summaries: many subscriptions in few bytes, that may say yes wrongly and never say no wrongly.

The five parts bear the names of the paper: EN (event type), EL (which fields go together), EC (enumerations),
AC (numbers and dates) and SC (strings, in Bloom filters).
"""

from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.digest import EventDigest
from roamcast.content.summary.summary import Summary

__all__ = ["BloomShape", "EventDigest", "Summary"]
