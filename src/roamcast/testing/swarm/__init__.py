"""Fault-injection tests: run histories generated from a seed, and check laws that hold for all protocols."""
