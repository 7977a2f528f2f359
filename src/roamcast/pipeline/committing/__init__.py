"""Commits of staged runs, compaction, repair of damage, and removal of runs that are not planned."""
