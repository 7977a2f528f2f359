"""Proofs that no protocol could have delivered an event: reachability by movement, and outages."""
