"""Testbed: live nodes, one process each, on a medium that follows a scenario's radio in real time."""
