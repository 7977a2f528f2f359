"""The facts of a run, checked and indexed by event and by node."""
