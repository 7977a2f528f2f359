"""`roamcast.compare` and `roamcast.Campaign`: run comparisons and campaigns from Python on Spark."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from roamcast.api.comparing import choose_able, make_comparison, read_deadline
from roamcast.api.runs import name_protocol
from roamcast.campaign.plan import apply_options, make_plan, read_campaign
from roamcast.cli.shared.campaign_command import (
    output_name,
    prepare_curves,
    run_campaign,
    run_campaign_file,
)
from roamcast.cli.shared.progress import drawing
from roamcast.cli.shared.spark_options import choose_session
from roamcast.files import safe_name
from roamcast.report.result import CampaignResult
from roamcast.results.results_folder import ResultsFolder
from roamcast.scenario.read import load, split_override
from roamcast.scenario.shipped import locate


def compare(
    scenario: str | Path,
    protocols: Iterable[str] | None = None,
    *,
    seeds: int = 5,
    settings: Iterable[str] | Mapping[str, Any] = (),
    out: str | Path | None = None,
    master: str | None = None,
    replace: bool = False,
    goal: str = "delivery",
    deadline: float | str | None = None,
) -> CampaignResult:
    """Run protocols in one scenario on common seeds; return the result, kept in the folder `out`.

    `goal` (delivery, delay, messages, airtime or energy) decides which protocol is best; deliveries later
    than `deadline` ([s], or text such as "2 s") count as lost.

    `protocols` are names or `"FILE.py:CLASS"`; by default all that can run in the scenario. Runs that the
    folder has already are not repeated.
    """
    file = locate(str(scenario))
    pairs = settings.items() if isinstance(settings, Mapping) else map(split_override, settings)
    changed = dict(pairs)
    known = load(file, changed)
    chosen = choose_able(known)[0] if protocols is None else [name_protocol(each) for each in protocols]
    latest = read_deadline(deadline if isinstance(deadline, str) else f"{deadline} s") if deadline else None
    campaign = make_comparison(known.name, file, chosen, seeds, changed, goal=goal, deadline=latest)
    folder = str(out or f"out/compare-{safe_name(known.name)}")
    command = shlex.join(
        ["roamcast", "compare", str(scenario), "--protocols", ",".join(chosen), "--out", folder]
        + (["--goal", goal] if goal != "delivery" else [])
        + ([] if latest is None else ["--deadline", f"{latest:g} s"])
    )
    question = {"compare": output_name(file, "scenarios"), "set": changed, "protocols": sorted(chosen)}
    where = choose_session(master, None, None, False, None)
    result = run_campaign(campaign, folder, command, question, where=where, replace=replace, hearing=_hear)
    prepare_curves(result)
    return result


class Campaign:
    """A campaign file, or a shipped campaign by name, with the options of a run."""

    def __init__(
        self,
        file: str | Path,
        *,
        seeds: int | None = None,
        quick: bool = False,
        only: Sequence[str] = (),
        routers: Sequence[str] = (),
    ) -> None:
        """Read the campaign; `routers` (`"FILE.py:CLASS"`) that it does not name are added to all sweeps."""
        self.file = locate(str(file), "campaigns")
        self._shape: dict[str, Any] = {"seeds": seeds, "quick": quick, "only": list(only)}
        self._routers = list(routers)
        for router in routers:
            name_protocol(router)
        self.configured = apply_options(read_campaign(self.file), **self._shape)
        "The campaign with the options applied."

    @property
    def title(self) -> str:
        """The title of the campaign."""
        return self.configured.title

    def count_runs(self) -> int:
        """Return the number of runs of the campaign, without the routers given by file."""
        return len(make_plan(self.configured).runs)

    def run(self, out: str | Path, *, master: str | None = None, replace: bool = False) -> CampaignResult:
        """Run the missing runs of the folder `out`, measure and judge; return the result."""
        where = choose_session(master, None, None, False, None)
        return run_campaign_file(
            self.file,
            str(out),
            where=where,
            replace=replace,
            routers=self._routers,
            hearing=_hear,
            **self._shape,
        )

    @staticmethod
    def read(folder: str | Path) -> CampaignResult:
        """Return the result in the folder of a finished campaign, without starting Spark."""
        return CampaignResult(ResultsFolder(folder))

    def __repr__(self) -> str:
        return f"<Campaign {self.title!r}: {', '.join(self.configured.sweeps)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(name)}</td><td>{sweep.size}</td>"
            f"<td style='text-align:left'>{escape(', '.join(sweep.protocols))}</td></tr>"
            for name, sweep in self.configured.sweeps.items()
        )
        head = "<tr><th>sweep</th><th>points</th><th>protocols</th></tr>"
        seeds = len(self.configured.seed_list)
        return f"<b>{escape(self.title)}</b>, {seeds} seeds<table>{head}{rows}</table>"


@contextmanager
def _hear(_: str) -> Iterator[Any]:
    """Yield a listener that draws a progress bar; an interrupt stays a KeyboardInterrupt."""
    with drawing() as (listener, _clear):
        yield listener
