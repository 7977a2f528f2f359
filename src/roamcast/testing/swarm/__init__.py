"""The swarm: histories drawn from a seed, full of faults, played under laws that hold for every protocol."""
