"""The runner of real campaigns: a planned run in, its facts into a folder.

Importing this module imports all that such a run needs but its router, so that a worker which forks for
each run has paid for it once.
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
    """Write the facts of `run`, from the radio world, into `folder` while it goes on."""
    simulate(Scenario.model_validate_json(run.scenario), run.router, run.seed, folder=folder, packed=True)
