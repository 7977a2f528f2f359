"""Staged runs into the lake, and its upkeep: compaction, damage, what nobody plans any more."""
