"""Comparisons and campaigns from Python, on Spark as the command line runs them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from roamcast.api.comparing import choose_able, make_comparison
from roamcast.api.runs import name_protocol
from roamcast.campaign.plan import apply_options, make_plan, read_campaign
from roamcast.cli.shared.campaign_command import output_name, run_campaign, run_campaign_file
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
) -> CampaignResult:
    """Run protocols in one scenario on common seeds; return the result, kept in the folder `out`.

    `protocols` are names or `"FILE.py:CLASS"`; by default all that can run in the scenario. Runs that the
    folder has already are not repeated.
    """
    file = locate(str(scenario))
    pairs = settings.items() if isinstance(settings, Mapping) else map(split_override, settings)
    changed = dict(pairs)
    known = load(file, changed)
    chosen = choose_able(known)[0] if protocols is None else [name_protocol(each) for each in protocols]
    campaign = make_comparison(known.name, file, chosen, seeds, changed)
    folder = str(out or f"out/compare-{safe_name(known.name)}")
    command = shlex.join(
        ["roamcast", "compare", str(scenario), "--protocols", ",".join(chosen), "--out", folder]
    )
    question = {"compare": output_name(file, "scenarios"), "set": changed, "protocols": sorted(chosen)}
    where = choose_session(master, None, None, False, None)
    return run_campaign(campaign, folder, command, question, where=where, replace=replace, hearing=_hear)


class Campaign:
    """A campaign file, or a shipped campaign by name, in the shape in which it is to run."""

    def __init__(
        self,
        file: str | Path,
        *,
        seeds: int | None = None,
        quick: bool = False,
        only: Sequence[str] = (),
        routers: Sequence[str] = (),
    ) -> None:
        """`routers` are `"FILE.py:CLASS"`; those that the campaign does not name are added to all sweeps."""
        self.file = locate(str(file), "campaigns")
        self._shape: dict[str, Any] = {"seeds": seeds, "quick": quick, "only": list(only)}
        self._routers = list(routers)
        for router in routers:
            name_protocol(router)
        self.asked = apply_options(read_campaign(self.file), **self._shape)
        "What the file asks for, as it will run."

    @property
    def title(self) -> str:
        """The title."""
        return self.asked.title

    def count_runs(self) -> int:
        """Return the number of runs of the campaign file, routers of other files left out."""
        return len(make_plan(self.asked).runs)

    def run(self, out: str | Path, *, master: str | None = None, replace: bool = False) -> CampaignResult:
        """Run what the folder `out` does not have yet, measure and judge; return the result."""
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
        """Return the result in a finished campaign's folder; starts no Spark."""
        return CampaignResult(ResultsFolder(folder))

    def __repr__(self) -> str:
        return f"<Campaign {self.title!r}: {', '.join(self.asked.sweeps)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(name)}</td><td>{sweep.size}</td>"
            f"<td style='text-align:left'>{escape(', '.join(sweep.protocols))}</td></tr>"
            for name, sweep in self.asked.sweeps.items()
        )
        head = "<tr><th>sweep</th><th>points</th><th>protocols</th></tr>"
        seeds = len(self.asked.seed_list)
        return f"<b>{escape(self.title)}</b>, {seeds} seeds<table>{head}{rows}</table>"


@contextmanager
def _hear(_: str) -> Iterator[Any]:
    """A listener that draws a bar; an interrupt is left to Python."""
    with drawing() as (listener, _clear):
        yield listener
