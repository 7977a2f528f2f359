"""Faults of nodes in the simulated world."""
