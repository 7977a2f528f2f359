"""Import of third-party traces as facts of a run or as movement for scenarios."""
