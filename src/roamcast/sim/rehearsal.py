"""A rehearsal: everything that a run needs is built and started, and hardly any time passes."""

from __future__ import annotations

from roamcast.errors import UserError
from roamcast.facts.recorder import Recorder
from roamcast.scenario.model import Scenario
from roamcast.sim.world import World

_MOMENT = 1e-3
"Seconds that pass."


class CannotRun(UserError):
    """A scenario that is right in itself and that a run would die of."""


def rehearse(scenario: Scenario, protocol: str, source: str) -> None:
    """Start a run of `scenario` under `protocol` and end it at once; `source` is blamed for what fails."""
    brief = scenario.model_copy(update={"duration": min(scenario.duration, _MOMENT)})
    try:
        World(scenario, protocol, 1, Recorder())  # draws publications, faults and movement of the whole run
        World(brief, protocol, 1, Recorder()).run()
    except UserError:
        raise
    except MemoryError:
        raise CannotRun(f"{source}: a run would not find room in this machine's memory") from None
    except Exception as error:
        told = " ".join(str(error).split())
        raise CannotRun(f"{source}: a run would fail: {type(error).__name__}: {told}") from error
