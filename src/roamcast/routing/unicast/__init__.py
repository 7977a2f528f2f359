"""Unicast routing: collaborators that tell a router the next hop, and the baselines built on them alone."""
