"""The estimated cost of a campaign before it runs: processor time and disk, with basis and uncertainty."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import process_time

import msgspec

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import PlannedRun, make_plan
from roamcast.campaign.progress import size
from roamcast.lake.snapshot import CommittedRun
from roamcast.results.results_folder import ResultsFolder
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate

_UNSURE = 1.0
"Relative uncertainty of a rate from fewer than three runs: a factor of two."


class ProtocolCost(msgspec.Struct, frozen=True):
    """The estimated cost of a protocol's runs that are still to do."""

    protocol: str
    runs: int
    cpu_hours: float
    bytes: int
    "Size of the facts as they are staged; committed facts are usually smaller [B]."
    basis: str
    "The runs from which the rates were taken."
    uncertainty: float
    "Relative uncertainty of the processor time: twice the deviation of the rate, or 1 (a factor of two)."


class CampaignCost(msgspec.Struct, frozen=True):
    """The estimated cost of a campaign."""

    planned: int
    done: int
    cpu_hours: float
    cpu_hours_low: float
    cpu_hours_high: float
    bytes: int
    protocols: list[ProtocolCost]


def cost_of_campaign(campaign: Campaign, out: str | None, seconds: float) -> CampaignCost:
    """Estimate the cost of the runs of a campaign that the folder `out` does not have.

    The rates of a protocol are those of its earlier runs in `out`; without any, of short calibration runs.
    """
    plan = make_plan(campaign)
    known = ResultsFolder(out).snapshot().runs() if out is not None else {}
    todo = [run for run in plan.runs if run.id not in known]
    earlier = sample_committed(plan.runs, known)
    unknown = [run for run in todo if run.router not in {sample.router for sample in earlier}]
    samples: dict[str, tuple[str, list[RunSample]]] = {}
    for found, basis in ((earlier, "earlier runs"), (calibrate(unknown, seconds), "calibration runs")):
        for router in {sample.router for sample in found}:
            mine = [sample for sample in found if sample.router == router]
            samples[router] = f"{len(mine)} {basis}", mine
    return estimate_cost(plan.runs, todo, samples)


def describe_cost(cost: CampaignCost) -> str:
    """Return the estimate as text."""
    lines = [
        f"{cost.planned - cost.done} of {cost.planned} runs to do: {cost.cpu_hours:,.2g} CPU hours "
        f"({cost.cpu_hours_low:,.2g} to {cost.cpu_hours_high:,.2g}), {cost.bytes / 1e6:,.1f} MB of facts"
    ]
    lines += [
        f"  {each.protocol}: {each.runs} runs, {each.cpu_hours:,.2g} CPU hours ± {each.uncertainty:.0%}, "
        f"{each.bytes / 1e6:,.1f} MB, from {each.basis}"
        for each in cost.protocols
    ]
    return "\n".join(lines)


class RunSample(msgspec.Struct, frozen=True):
    """The measured cost of a run, per simulated second and node."""

    router: str
    cpu: float
    "Processor time per second and node [s]."
    bytes: float
    "Size of facts per second and node [B]."


def sample_committed(runs: Iterable[PlannedRun], known: Mapping[str, CommittedRun]) -> list[RunSample]:
    """Return what earlier runs of the plan cost."""
    return [
        RunSample(run.router, done.cpu / size(run), done.size / size(run))
        for run in runs
        if (done := known.get(run.id)) is not None and done.cpu
    ]


def calibrate(runs: Sequence[PlannedRun], seconds: float) -> list[RunSample]:
    """Simulate the first `seconds` of two runs of each router in this process; return their costs."""
    found = []
    for router in sorted({run.router for run in runs}):
        mine = sorted((run for run in runs if run.router == router), key=lambda run: (size(run), run.id))
        found += [_calibrate(run, seconds) for run in (mine[0], mine[-1])[: len(mine)]]
    return found


def _calibrate(run: PlannedRun, seconds: float) -> RunSample:
    scenario = Scenario.model_validate_json(run.scenario)
    shorter = min(run.duration, run.warmup + seconds)
    scenario = scenario.model_copy(update={"duration": shorter, "quiet": min(scenario.quiet, seconds / 2)})
    with tempfile.TemporaryDirectory() as folder:
        began = process_time()
        simulate(scenario, run.router, run.seed, folder=Path(folder))
        took = process_time() - began
        written = sum(file.stat().st_size for file in Path(folder).iterdir())
    return RunSample(run.router, took / (shorter * run.nodes), written / (shorter * run.nodes))


def estimate_cost(
    runs: Sequence[PlannedRun], todo: Sequence[PlannedRun], samples: Mapping[str, tuple[str, list[RunSample]]]
) -> CampaignCost:
    """Return the cost of `todo`; `samples` has the basis and the sampled runs of each router."""
    costs = []
    for router in sorted({run.router for run in todo}):
        mine = [run for run in todo if run.router == router]
        basis, found = samples[router]
        work = sum(map(size, mine))
        rates = [sample.cpu for sample in found]
        mean = sum(rates) / len(rates)
        spread = _UNSURE
        if len(rates) > 2 and mean:
            spread = 2 * (sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1)) ** 0.5 / mean
        written = work * sum(sample.bytes for sample in found) / len(found)
        costs.append(ProtocolCost(router, len(mine), work * mean / 3600, int(written), basis, spread))
    total = sum(cost.cpu_hours for cost in costs)
    low = sum(
        cost.cpu_hours * (1 - cost.uncertainty if cost.uncertainty < 1 else 1 / (1 + cost.uncertainty))
        for cost in costs
    )
    high = sum(cost.cpu_hours * (1 + cost.uncertainty) for cost in costs)
    disk = sum(cost.bytes for cost in costs)
    return CampaignCost(len(runs), len(runs) - len(todo), total, low, high, disk, costs)
