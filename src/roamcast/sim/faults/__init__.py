"""What befalls nodes of the simulated world."""
