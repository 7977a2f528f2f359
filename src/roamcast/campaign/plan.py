"""Planning of a campaign: its distinct runs, and the cells to which they belong; needs no Spark."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import attrgetter
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.campaign.campaign import Campaign, Variant
from roamcast.campaign.reading_combinations import expand_readings
from roamcast.campaign.readings import defaults, overrides
from roamcast.campaign.section import Setting
from roamcast.campaign.sweep import SCENARIO, Sweep
from roamcast.campaign.tables import PLAN, POINTS
from roamcast.campaign.version import code_version
from roamcast.errors import UserError
from roamcast.routing.catalogue import file_of
from roamcast.scenario.explain import line_of
from roamcast.scenario.read import load, read_toml, validate
from roamcast.scenario.resolved import digest_files
from roamcast.scenario.shipped import shipped

if TYPE_CHECKING:
    from roamcast.scenario.model import Scenario


_SEED = " --seed "

_PIECE = 1000
"Number of rows in a piece of a table of the plan."


class CampaignError(UserError):
    """A campaign file that cannot be planned."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: all inputs that determine its facts, and the values that its metrics need."""

    id: str
    router: str
    parameters: str
    seed: int
    scenario: str
    duration: float
    warmup: float
    radio_range: float
    header: int
    nodes: int
    version: str
    inputs: str
    base_command: str
    "The command that reproduces the run, without its seed: the runs of a point share the text."

    @property
    def command(self) -> str:
        """The command that reproduces the run."""
        return f"{self.base_command}{_SEED}{self.seed}"


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """The cell of a run in a campaign: a point of a sweep, a protocol label and a seed."""

    sweep: str
    point: str
    protocol: str
    seed: int
    run: str


@dataclass(frozen=True)
class CampaignPlan:
    """The distinct runs of a campaign, and the cells to which they belong."""

    runs: tuple[PlannedRun, ...]
    places: tuple[PlannedCell, ...]

    def tables(self) -> dict[str, Iterator[pa.Table]]:
        """Return the tables `plan` and `points` in sorted pieces; the whole would take much memory."""
        key = attrgetter("sweep", "point", "protocol", "seed", "run")
        ids, *columns = PLAN.names
        runs = ({ids: run.id, **_row(run, columns)} for run in sorted(self.runs, key=lambda run: run.id))
        places = (_row(place, POINTS.names) for place in sorted(self.places, key=key))
        return {
            "plan": (pa.Table.from_pylist(piece, PLAN) for piece in _split(runs, _PIECE)),
            "points": (pa.Table.from_pylist(piece, POINTS) for piece in _split(places, _PIECE)),
        }

    @classmethod
    def read(cls, plan: pa.Table, points: pa.Table) -> CampaignPlan:
        """Return the plan in these tables, which other versions of the code may have written."""
        runs = []
        for row in plan.to_pylist():
            command = row.pop("command").partition(_SEED)[0]
            runs.append(PlannedRun(id=row.pop("run"), base_command=command, **row))
        return cls(tuple(runs), tuple(PlannedCell(**row) for row in points.to_pylist()))


def _row(planned: PlannedRun | PlannedCell, columns: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(planned, name) for name in columns}


def _split(rows: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in lists of `size`; at least one list, which may be empty."""
    waiting = iter(rows)
    yield list(islice(waiting, size))
    while piece := list(islice(waiting, size)):
        yield piece


def read_campaign(path: str | Path) -> Campaign:
    """Return the campaign in a file, with scenario paths resolved; the scenarios are not checked."""
    path = Path(path)
    text, data = read_toml(path)
    if "area" in data and "sweeps" not in data:
        raise CampaignError(f"{path}: is a scenario; compare protocols in it with: roamcast compare {path}")
    campaign = validate(Campaign, data, str(path), text).origin_of(path, text)
    sweeps = {
        name: sweep
        if sweep.scenario is None
        else sweep.model_copy(
            update={"scenario": _find_scenario(campaign, path, sweep.scenario, f"sweeps.{name}.scenario")}
        )
        for name, sweep in campaign.sweeps.items()
    }
    changes: dict[str, Any] = {"sweeps": sweeps, "scenarios": _find_scenarios(campaign, path)}
    if campaign.scenario is not None:
        changes["scenario"] = _find_scenario(campaign, path, campaign.scenario, "scenario")
    return campaign.model_copy(update=changes)


def _find_scenarios(campaign: Campaign, path: Path) -> dict[str, Path]:
    """Return the file of each scenario that an axis of a sweep names."""
    found: dict[str, Path] = {}
    for key, sweep in campaign.sweeps.items():
        for name in map(str, sweep.values_of(SCENARIO)):
            listed = campaign.scenarios.get(name)
            place = f"sweeps.{key}.grid.{SCENARIO}" if listed is None else f"scenarios.{name}"
            found[name] = _find_scenario(campaign, path, listed or Path(name), place)
    return found


def _find_scenario(campaign: Campaign, path: Path, named: Path, key: str) -> Path:
    """Return the file of a scenario that the campaign names: relative to the campaign, or a shipped one."""
    found = Path(normpath(path.parent / named))
    if found.is_file():
        return found
    known = shipped("scenarios")
    if str(named) in known:
        return known[str(named)]
    raise CampaignError(f"{campaign.line_of(key)}: no such file: {found}")


def check_campaign(path: str | Path) -> CampaignPlan:
    """Read the campaign at `path` and return its plan; raise an error for any invalid part."""
    campaign = read_campaign(path)
    plan = make_plan(campaign)
    check_alternatives(campaign, path)
    return plan


def check_alternatives(campaign: Campaign, path: str | Path) -> None:
    """Plan a run of each label under each alternative of each reading; an error names its line."""
    for name, reading in campaign.readings.items():
        for key, alternative in reading.alternatives.items():
            chosen = dict(alternative.only_with) | {name: key}
            try:
                for sweep in campaign.sweeps.values():
                    under = sweep.model_copy(update={"reading": chosen | sweep.reading})
                    for label in sweep.protocols:
                        _make_run_at(campaign, under, under.expand()[0], label)
            except UserError as error:
                place = ["readings", name, "alternatives", key]
                line = line_of(read_toml(Path(path))[0], place)
                where = f"{path}:{line}" if line else str(path)
                problem = str(error).removeprefix("--set: ")
                raise CampaignError(f"{where}: {'.'.join(place)}: {problem}") from None


def apply_options(
    campaign: Campaign,
    *,
    seeds: int | None = None,
    quick: bool = False,
    only: Iterable[str] = (),
    readings: bool = False,
) -> Campaign:
    """Return the campaign with another number of seeds, with the `quick` settings, with only some figures,
    or under all its readings."""
    changes: dict[str, Any] = {}
    if quick:
        hurried = {
            name: sweep.thin(campaign.quick.points).model_copy(update={"set": sweep.set | campaign.quick.set})
            for name, sweep in campaign.sweeps.items()
        }
        changes |= {"seeds": campaign.seed_list[: campaign.quick.seeds], "sweeps": hurried}
    if seeds is not None:
        changes["seeds"] = seeds if isinstance(campaign.seeds, int) else campaign.seeds[:seeds]
    chosen = list(only)
    for figure in chosen:
        if figure not in campaign.figures:
            raise CampaignError(
                f"the campaign has no figure {figure!r}; it has {', '.join(campaign.figures)}"
            )
    if chosen:
        figures = {name: campaign.figures[name] for name in chosen}
        kept = {figure.sweep for figure in figures.values()}
        sweeps = changes.get("sweeps", campaign.sweeps)
        changes["figures"] = figures
        changes["sweeps"] = {name: sweep for name, sweep in sweeps.items() if name in kept}
        changes["claims"] = {name: claim for name, claim in campaign.claims.items() if claim.sweep in kept}
    shaped = campaign.model_copy(update=changes)
    if not readings:
        return shaped
    if not campaign.readings or not shaped.claims:
        raise CampaignError(
            "--readings needs a campaign with readings and claims; this one lacks one of them"
        )
    if seeds is not None:
        shaped = shaped.model_copy(update={"design": shaped.design.model_copy(update={"seeds": None})})
    return expand_readings(shaped)


def make_plan(campaign: Campaign) -> CampaignPlan:
    """Return the plan of a campaign; a run that several points share is planned once."""
    runs: dict[str, PlannedRun] = {}
    places: list[PlannedCell] = []
    for name, sweep in campaign.sweeps.items():
        for point in sweep.expand():
            text = point_text(point)
            for label in sweep.protocols:
                first = _make_run_at(campaign, sweep, point, label, partial(_origin, campaign, name, label))
                for seed in campaign.seed_list:
                    run = with_seed(first, seed)
                    runs.setdefault(run.id, run)
                    places.append(PlannedCell(name, text, label, seed, run.id))
    return CampaignPlan(tuple(runs.values()), tuple(places))


def _make_run_at(
    campaign: Campaign,
    sweep: Sweep,
    point: Mapping[str, Setting],
    label: str,
    origin: Callable[[str], str] = lambda _: "--set",
) -> PlannedRun:
    """Return the run of `label` at a point of a sweep, under the sweep's reading, with the first seed."""
    variant = campaign.protocols[label]
    settings, parameters = overrides(campaign.readings, defaults(campaign.readings) | sweep.reading)
    if label in parameters:
        variant = variant.model_copy(update={"parameters": variant.parameters | parameters[label]})
    every, seed = sweep.set | settings | dict(point), campaign.seed_list[0]
    named = every.pop(SCENARIO, None)
    file = sweep.scenario or campaign.scenario if named is None else campaign.scenarios[str(named)]
    assert file is not None  # the campaign checks that every sweep has a scenario
    return make_run(file, label, variant, every, seed, origin=origin)


def _origin(campaign: Campaign, sweep: str, label: str, key: str) -> str:
    """Return the position in the campaign file that sets `key` for a label's runs of a sweep."""
    router = campaign.protocols[label].router or label
    of_sweep = [f"sweeps.{sweep}.{part}.{key}" for part in ("grid", "zip", "set")]
    parameter = key.removeprefix(f"protocol.{router}.")
    return campaign.line_of(
        *of_sweep,
        f"protocols.{label}.parameters.{parameter}",
        f"protocols.{label}.{parameter}",
        f"quick.set.{key}",
        f"sweeps.{sweep}.points",
    ).removesuffix(f".{key}")


def make_run(
    file: Path,
    label: str,
    variant: Variant,
    settings: Mapping[str, Setting],
    seed: int,
    *,
    origin: Callable[[str], str] = lambda _: "--set",
) -> PlannedRun:
    """Return the run of `label` with `settings` and `seed` for the scenario in `file`."""
    router = variant.router or label
    named: dict[str, Setting] = {"profile": variant.profile} if variant.profile is not None else {}
    named |= variant.parameters
    changed = dict(settings) | {f"protocol.{router}.{key}": value for key, value in named.items()}
    scenario = load(file, changed, origin)
    parameters = scenario.parameters(router).model_dump(mode="json")
    alone = scenario.model_copy(update={"protocols": {router: parameters}})
    run = PlannedRun(
        id="",
        router=router,
        parameters=_json(parameters),
        seed=seed,
        scenario=_json(alone.model_dump(mode="json", by_alias=True)),
        duration=scenario.duration,
        warmup=scenario.warmup,
        radio_range=scenario.radio.range,
        header=scenario.mac.network_header,
        nodes=scenario.count,
        version=code_version(router),
        inputs=_digest_inputs(scenario),
        base_command=_command(file, router, changed),
    )
    return with_seed(run, seed)


def with_seed(run: PlannedRun, seed: int) -> PlannedRun:
    """Return the run with another seed and the corresponding id."""
    content = _json([run.scenario, run.inputs, run.router, run.parameters, seed, run.version])
    digest = hashlib.blake2b(content.encode(), digest_size=10).hexdigest()
    return replace(run, id=digest, seed=seed)


def point_text(point: Mapping[str, Setting]) -> str:
    """Return a point as text for the tables: JSON with sorted keys."""
    return _json(dict(point))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _digest_inputs(scenario: Scenario) -> str:
    """Return a digest of the files that the scenario names; its JSON contains only their paths."""
    return hashlib.blake2b(_json(digest_files(scenario)).encode(), digest_size=4).hexdigest()


def _command(file: Path, router: str, changed: Mapping[str, Setting]) -> str:
    """Return the command that reproduces the run, without its seed."""
    ours = shipped("scenarios").get(file.stem)
    # A shipped name or an absolute path, so that the command works in any directory.
    named = file.stem if ours is not None and ours.resolve() == file.resolve() else str(file.absolute())
    own = file_of(router)
    words = ["roamcast", "run", named]
    words += ["--protocol", router] if own is None else ["--router", f"{own.file}:{own.cls}"]
    for key, value in changed.items():
        words += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)
