"""Summaries: compact representations of many subscriptions, with false positives but no false negatives.

The five parts have the names of the paper: EN (event type), EL (which fields are constrained together), EC
(enumerations), AC (numbers and dates) and SC (strings, in Bloom filters).
"""

from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.digest import EventDigest
from roamcast.content.summary.summary import Summary

__all__ = ["BloomShape", "EventDigest", "Summary"]
