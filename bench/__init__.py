"""Ratios measured in one run; `python -m bench` runs all, `python -m bench.NAME` one."""
