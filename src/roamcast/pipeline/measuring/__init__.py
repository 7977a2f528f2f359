"""Metrics of runs, statistics over seeds, and verdicts on claims."""
