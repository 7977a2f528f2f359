"""PAMPA: flooding in which the nodes with the most progress repeat a message and the others suppress it."""
