"""Campaign files, the plan of their runs, claims as weighted sums, and readings. Needs no Spark."""
