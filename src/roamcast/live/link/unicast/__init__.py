"""Payloads for one neighbour: numbered, acknowledged and repeated, in the order of their urgency."""
