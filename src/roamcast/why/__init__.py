"""Explain, from the facts of any protocol, why events were not delivered and requests not satisfied."""
