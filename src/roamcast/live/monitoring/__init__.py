"""Monitoring of a live node by other programs."""
