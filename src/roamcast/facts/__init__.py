"""What happened: one row type per fact, and its Arrow schema."""
