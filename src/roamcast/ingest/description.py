"""The user's description of an ns-2 run, the line counts of its trace, and notes on missing information."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from roamcast import __version__
from roamcast.facts.recorder import UNTOLD
from roamcast.facts.tables import MessageKind, RunManifest
from roamcast.files import safe_name
from roamcast.ingest.readers.ns2trace import TraceRecord
from roamcast.ingest.transmissions import LINK_KINDS, ROUTING_PORT, LinkRates, is_message, name_kind

CAUSES = {
    "COL": "collided",
    "RET": "retry_limit",
    "ARP": "unresolved",
    "DUP": "duplicate",
    "NRTE": "no_route",
    "CBK": "no_route",
    "TTL": "hop_limit",
    "TOUT": "expired",
    "LOOP": "suppressed",
}
"""Drop causes by ns-2 reason; other reasons keep their ns-2 name. `name_cause` maps IFQ, which may mean the
interface queue or a router's buffer."""

_ROUTED_BY = {"message": "dsdv"}
_UNCOUNTED = frozenset(reason.name.lower() for reason in UNTOLD)


class TraceDescription(NamedTuple):
    """The properties of a run that its trace does not contain, as given by the user."""

    seed: int = 0
    warmup: float = 0.0
    range: float | None = None
    rates: LinkRates = LinkRates()
    movement: str | None = None
    "Path of the ns-2 movement file that the run used."


class TraceCounts:
    """Counts over all lines of a trace."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str, str, bool]] = Counter()
        "Number of lines by event, layer, reason, kind, and whether a routing agent sent the packet."
        self.nodes = 0
        "The highest node number in the trace, plus one."
        self.present: set[int] = set()
        "Nodes with at least one line."
        self.end = 0.0
        self.bad = 0
        self.unsent = 0

    def add(self, record: TraceRecord) -> None:
        """Add a line to the counts."""
        routing = record.port == ROUTING_PORT
        kind = name_kind(record) if is_message(record) else record.kind
        self.counts[record.event, record.layer, record.reason, kind, routing] += 1
        self.nodes = max(self.nodes, record.node + 1, record.source + 1, record.target + 1)
        self.present.add(record.node)
        self.end = max(self.end, record.time)

    @property
    def lines(self) -> int:
        """The number of parsed lines."""
        return self.counts.total()

    @property
    def handed(self) -> int:
        """The number of messages that routers passed to the link layer."""
        return sum(
            count
            for (event, layer, _, kind, _), count in self.counts.items()
            if layer == "RTR" and event in "sf" and kind not in {"", *LINK_KINDS}
        )

    def traced(self, layer: str) -> bool:
        """Return whether the trace contains lines of `layer`."""
        return any(key[1] == layer for key in self.counts)

    def run(self, path: str, description: TraceDescription) -> RunManifest:
        """Return the manifest of the run; unknown settings keep their defaults."""
        frames: Counter[str] = Counter()
        drops: Counter[str] = Counter()
        kinds: dict[str, MessageKind] = {}
        protocol = "ns2"
        for (event, layer, reason, kind, routing), count in sorted(self.counts.items()):
            if layer == "MAC" and event in "sr":
                frames["sent" if event == "s" else "received"] += count
            elif event == "d":
                cause = name_cause(reason, layer)
                (frames if layer in ("MAC", "IFQ", "LL") else drops)[cause] += count
            if kind and layer == "RTR" and event in "sf":
                category = "routing" if routing else "control" if kind == "ack" else "event"
                kinds[kind] = MessageKind(category)
            if routing:
                first = kind.split(" ")[0]
                protocol = f"ns2-{_ROUTED_BY.get(first, first.lower())}"
        return RunManifest(
            scenario=name_run(path),
            protocol=protocol,
            parameters={},
            seed=description.seed,
            version=f"ns-2, read by roamcast {__version__}",
            nodes=self.nodes,
            duration=self.end,
            warmup=description.warmup,
            range=description.range,
            frames=dict(sorted(frames.items())),
            drops=dict(sorted(drops.items())),
            events_processed=self.lines,
            kinds=kinds,
        )

    def notes(self, description: TraceDescription, *, moved: bool) -> list[str]:
        """Return one sentence for each piece of information that the trace lacks."""
        notes = []
        if self.bad:
            notes.append(f"{self.bad} lines could not be parsed; they are listed in bad.parquet")
        if not self.traced("AGT"):
            notes.append("agents are not traced (-agentTrace ON): no publications, no deliveries")
        if not self.traced("RTR") and self.traced("MAC"):
            notes.append("routers are not traced (-routerTrace ON): messages are derived from frames alone")
        if not self.traced("MAC"):
            notes.append(
                "the link is not traced (-macTrace ON): each message counts as one frame, "
                "failures and airtime are unknown"
            )
        if self._sent_by_agents("message"):
            notes.append(
                "message agents do not identify their events: each repetition counts as a publication"
            )
        if self._sent_by_agents("tcp"):
            notes.append("a retransmitted TCP segment counts as a separate publication")
        if self.unsent:
            notes.append(
                f"{self.unsent} messages passed to the link layer were never sent and are not counted"
            )
        if not moved:
            notes.append(
                "positions are unknown (give the movement with --movement FILE): no neighbours, no energy"
            )
        notes.append("ns-2 does not trace interests, routing tables and states")
        return notes

    def _sent_by_agents(self, kind: str) -> bool:
        return any(key[0] == "s" and key[1] == "AGT" and key[3] == kind for key in self.counts)


def name_cause(reason: str, layer: str) -> str:
    """Return the drop cause for an ns-2 reason at a layer."""
    if reason == "IFQ":
        return "queue_full" if layer in ("IFQ", "LL", "MAC") else "table_full"
    return CAUSES.get(reason, reason.lower().strip("-") or "untold")


def has_rows(cause: str) -> bool:
    """Return whether drops with this cause get rows; others are only counted, as in simulated runs."""
    return cause not in _UNCOUNTED


def name_run(path: str) -> str:
    """Return the name of a run: the file name without known extensions."""
    name = Path(path).name
    for ending in (".gz", ".tr", ".trace", ".txt", ".xml", ".gpx", ".csv", ".mov", ".movements"):
        name = name.removesuffix(ending)
    return safe_name(name) if name else "trace"


def drop_peer(record: TraceRecord) -> int:
    """Return the sender of a collided frame, the receiver of another frame, or -1 above the link layer."""
    if record.layer != "MAC":
        return -1
    return record.mac_from if record.event == "d" and record.reason == "COL" else record.mac_to
