"""Applications: those who publish, want and ask, on the nodes of the simulated world."""
