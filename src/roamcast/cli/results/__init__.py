"""Commands that look into the facts of runs."""
