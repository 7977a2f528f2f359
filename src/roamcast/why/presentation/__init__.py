"""Explanations and counts of causes as sentences and as data."""
