"""`python -m validation.clone_beside [FOLDER]`: section III's formulas beside a campaign like `zhang`.

k, alpha and p are the campaign's means over seeds; the formulas are for one content, and for all of them.
Ratios (I) to (III) are of CLONE's overhead to the traditional one, for one content; (II) has 1 - alpha as
printed, and alpha as in (3). Beside them is the ratio measured against the protocol without communities.
Hop counts are of the first seed's run at each point: shortest ways in the graph of who is within range, at
moments from the warm-up to the end, from nodes to providers and from members to the principals that they
named.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse.csgraph import shortest_path

from roamcast.errors import UserError
from roamcast.facts.tables import Facts
from roamcast.facts.tracks import Tracks
from roamcast.lake.reading import read_run
from roamcast.metrics.community_snapshot import community_snapshot
from roamcast.pipeline.campaign_folder import CampaignFolder
from validation.clone_model import Model, basic_delay, clone_delay, traditional_delay

MOMENTS = 5
MEASURED = ("communities", "hit_rate", "overhead_weighted", "response_delay")
COLUMNS = (
    "k",
    "alpha",
    "hops far",
    "near",
    "formula",
    "all contents",
    "with hops",
    "measured",
    "(I)",
    "(II)",
    "(II), alpha",
    "(III)",
    "measured",
    "delay: formula",
    "measured",
)


@dataclass(frozen=True)
class Seen:
    """What one run shows that no metric tells."""

    far: float
    "Mean hops from a node to a provider that it can reach."
    near: float | None
    "Mean hops from a member to its principal; None without communities."
    hit: float
    "Mean seconds of a request that was answered from a cache."


def see(facts: Facts) -> Seen:
    """Hop counts and the delay of a hit, of one run."""
    run = facts.run
    tracks = Tracks(facts["legs"], run.nodes)
    publishers = sorted(set(facts["publications"]["publisher"].to_pylist()))
    far: list[float] = []
    near: list[float] = []
    for moment in np.linspace(run.warmup, run.duration, MOMENTS):
        hops = hop_counts(tracks.positions(float(moment)), run.range or 0.0)
        ways = hops[:, publishers]
        far += ways[np.isfinite(ways) & (ways > 0)].tolist()
        found = community_snapshot(facts, "", float(moment))
        pairs = [] if found is None else [(a, b) for a, b in found.belongs.items() if a != b]
        near += [float(hops[pair]) for pair in pairs if np.isfinite(hops[pair])]
    asked = facts["requests"].to_pandas()
    hits = asked[(asked["outcome"] == "satisfied") & ~asked["fresh"] & (asked["time"] >= run.warmup)]
    waited = (hits["answered"] - hits["time"]).mean() if len(hits) else 0.0
    return Seen(float(np.mean(far)) if far else 0.0, float(np.mean(near)) if near else None, float(waited))


def hop_counts(places: np.ndarray, reach: float) -> np.ndarray:
    """Hops between every two nodes by the shortest way; infinite where there is none."""
    apart = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    return np.asarray(shortest_path((apart <= reach) & (apart > 0), directed=False, unweighted=True))


def put_beside(folder: str) -> Table:
    """A row for each point and protocol of the campaign."""
    store = CampaignFolder(folder)
    campaign, _ = store.read_campaign()
    means = {
        (row["sweep"], row["point"], row["protocol"], row["metric"]): row["mean"]
        for row in store.read_table("summary").to_pylist()
    }
    first: dict[tuple[str, str, str], tuple[int, str]] = {}
    for row in store.read_table("points").to_pylist():
        key = (row["sweep"], row["point"], row["protocol"])
        first[key] = min(first.get(key, (1 << 62, "")), (row["seed"], row["run"]))
    table = Table(title="Section III beside the campaign: normalised messages a second, and seconds")
    for column in ("point", "protocol", *COLUMNS):
        table.add_column(column, justify="right" if column in COLUMNS else "left")
    for (sweep, point, protocol), (_, run) in first.items():
        known = {name: means.get((sweep, point, protocol, name)) for name in MEASURED}
        flat = [
            means.get((sweep, point, other, "overhead_weighted"))
            for other in campaign.protocols
            if means.get((sweep, point, other, "communities")) is None
        ]
        known["traditional"] = next((each for each in flat if each), None)
        facts = read_run(str(store.folder), run)
        settings = ", ".join(
            f"{key.rsplit('.', 1)[1]} {value}" for key, value in json.loads(point).items() if "." in key
        )
        title = campaign.protocols[protocol].title or protocol
        table.add_row(f"{sweep}: {settings}", title, *_cells(facts, known, campaign.measure.gamma))
    return table


def _cells(facts: Facts, known: dict[str, float | None], gamma: float) -> tuple[str, ...]:
    run = facts.run
    workload = run.resolved["workload"]
    if not workload["request"] or not workload["publish"]:
        raise UserError(f"the runs of {run.scenario} have no requests: section III is about those")
    seen, topics = see(facts), workload.get("topics")
    subscribe = next(iter(workload["request"].values()))["every"]
    publish = next(iter(workload["publish"].values()))["every"]
    hit = known["hit_rate"] or 0.0
    k = known["communities"]
    model = Model(
        run.nodes, k or run.nodes, 1 - hit, publish=publish, subscribe=subscribe, publication_size=gamma
    )
    every = replace(model, contents=topics["count"] if topics else 1)
    walked = replace(every, far=seen.far, near=seen.near)
    formulas = ((each.traditional() if k is None else each.clone()) for each in (model, every, walked))
    delegated = bool(run.parameters.get("enhanced", False))
    if k is None:
        delay = traditional_delay(publish)
    else:
        delay = (
            clone_delay(hit, seen.hit, 0.0, 1.0) if delegated else basic_delay(hit, seen.hit, 0.0, publish)
        )
    spent = (known["overhead_weighted"] or 0.0) / (run.duration - run.warmup)
    ratios: tuple[float, ...] = ()
    if k is not None:
        meant = replace(model, fetched_share="unserved")
        limits = (model.ratio_many_nodes(), model.ratio_large_events(), meant.ratio_large_events())
        ratios = (*limits, model.ratio())
    flat = known.get("traditional")
    beside = "" if k is None or not flat else f"{(known['overhead_weighted'] or 0.0) / flat:.2f}"
    return (
        "" if k is None else f"{k:.1f}",
        "" if k is None else f"{1 - hit:.2f}",
        f"{seen.far:.1f}",
        "" if seen.near is None else f"{seen.near:.1f}",
        *(f"{formula:.0f}" for formula in formulas),
        f"{spent:.0f}",
        *([f"{each:.2f}" for each in ratios] or [""] * 4),
        beside,
        f"{delay:.2f}",
        f"{known['response_delay'] or float('nan'):.2f}",
    )


def main() -> int:
    """Print the table; 2 if there is no such campaign."""
    try:
        Console(width=170).print(put_beside(sys.argv[1] if len(sys.argv) > 1 else "out/zhang"))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
