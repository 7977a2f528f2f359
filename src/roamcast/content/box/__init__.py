"""Constraints as sets of values, and conjunctions of them as boxes in the space of events."""
