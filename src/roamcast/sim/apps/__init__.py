"""Applications on the nodes of the simulated world: publishers, subscribers and requesters."""
