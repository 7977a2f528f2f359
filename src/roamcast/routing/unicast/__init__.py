"""Unicast routing protocols, used by routers, and the baselines that use nothing else."""
