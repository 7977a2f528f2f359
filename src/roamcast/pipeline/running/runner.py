"""The runner of campaigns: simulates a planned run and writes its facts to a folder.

Importing this module imports all that a run needs except its router, so that a worker that forks for each run
imports it once.
"""

from __future__ import annotations

from pathlib import Path

import pandas  # noqa: F401 - pyarrow wants it at its first conversion

import roamcast.content.codec
import roamcast.content.printer  # noqa: F401
from roamcast.campaign.plan import PlannedRun
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate


def simulate_run(run: PlannedRun, folder: Path) -> None:
    """Simulate `run` and write its facts to `folder` as it proceeds."""
    simulate(Scenario.model_validate_json(run.scenario), run.router, run.seed, folder=folder, packed=True)
