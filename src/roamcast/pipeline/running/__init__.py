"""Runs: dealt out to tasks, each in a process of its own."""
