"""Simulation of runs by Spark tasks, each run in a process of its own."""
