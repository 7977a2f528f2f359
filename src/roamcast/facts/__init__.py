"""What happened: one row type per fact, its Arrow schema, and the metrics of a run."""
