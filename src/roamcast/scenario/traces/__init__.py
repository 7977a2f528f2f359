"""Recorded inputs of a scenario: movement, and a schedule of publications."""
