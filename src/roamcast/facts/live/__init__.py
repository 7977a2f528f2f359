"""Facts of live networks: segments of nodes, joined to the tables of one run."""
