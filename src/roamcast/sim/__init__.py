"""The simulated world: nodes, applications, workload and faults in virtual time."""
