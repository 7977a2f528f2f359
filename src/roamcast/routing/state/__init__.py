"""Soft state shared by the protocols: leases, duplicate detection, neighbours, serials and timers."""
