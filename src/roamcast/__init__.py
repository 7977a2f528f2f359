"""Roamcast: content-based publish/subscribe for networks that move."""

__version__ = "0.1.0"
