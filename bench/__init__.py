"""Ratios measured in one run; `python -m bench` runs all, `python -m bench.NAME` one."""

import os

os.environ.setdefault("ROAMCAST_WARM", "0")  # a session that the user keeps is not what benches measure
