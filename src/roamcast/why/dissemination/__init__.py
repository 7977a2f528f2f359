"""Inference of causes from transmissions and drops, one module for each way of forwarding events."""
