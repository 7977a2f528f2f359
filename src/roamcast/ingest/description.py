"""What is to be known of an ns-2 run besides its trace, and what its trace cannot tell."""

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
"Our words for ns-2's reasons; others keep ns-2's. IFQ is of the link's queue or of a router's buffer."

_ROUTED_BY = {"message": "dsdv"}
_UNCOUNTED = frozenset(reason.name.lower() for reason in UNTOLD)


class TraceDescription(NamedTuple):
    """What a person tells of a trace."""

    seed: int = 0
    warmup: float = 0.0
    range: float | None = None
    rates: LinkRates = LinkRates()
    movement: str | None = None
    "An ns-2 movement file that the run used."


class TraceCounts:
    """What was counted over all lines of a trace."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, str, str, bool]] = Counter()
        "Lines by event, layer, reason, kind and whether routing agents sent the packet."
        self.nodes = 0
        "One more than the largest number of a node that is named."
        self.present: set[int] = set()
        "Nodes at which something happened."
        self.end = 0.0
        self.bad = 0
        self.unsent = 0

    def add(self, record: TraceRecord) -> None:
        """Count a line."""
        routing = record.port == ROUTING_PORT
        kind = name_kind(record) if is_message(record) else record.kind
        self.counts[record.event, record.layer, record.reason, kind, routing] += 1
        self.nodes = max(self.nodes, record.node + 1, record.source + 1, record.target + 1)
        self.present.add(record.node)
        self.end = max(self.end, record.time)

    @property
    def lines(self) -> int:
        """Lines that were understood."""
        return self.counts.total()

    @property
    def handed(self) -> int:
        """Messages that routers handed to the link."""
        return sum(
            count
            for (event, layer, _, kind, _), count in self.counts.items()
            if layer == "RTR" and event in "sf" and kind not in {"", *LINK_KINDS}
        )

    def traced(self, layer: str) -> bool:
        """Whether lines of a layer are there."""
        return any(key[1] == layer for key in self.counts)

    def run(self, path: str, told: TraceDescription) -> RunManifest:
        """What was run, as far as it can be known."""
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
            seed=told.seed,
            version=f"ns-2, read by roamcast {__version__}",
            nodes=self.nodes,
            duration=self.end,
            warmup=told.warmup,
            range=told.range,
            frames=dict(sorted(frames.items())),
            drops=dict(sorted(drops.items())),
            events_processed=self.lines,
            kinds=kinds,
        )

    def notes(self, told: TraceDescription, *, moved: bool) -> list[str]:
        """What this trace leaves open, in sentences."""
        notes = []
        if self.bad:
            notes.append(f"{self.bad} lines were not understood; they are kept apart in bad.parquet")
        if not self.traced("AGT"):
            notes.append("agents are not traced (-agentTrace ON): no publications, no deliveries")
        if not self.traced("RTR") and self.traced("MAC"):
            notes.append("routers are not traced (-routerTrace ON): messages are known by their frames alone")
        if not self.traced("MAC"):
            notes.append(
                "the link is not traced (-macTrace ON): each message counts as one frame, "
                "failures and airtime are unknown"
            )
        if self._sent_by_agents("message"):
            notes.append("message agents do not say which event they carry: each repetition is a publication")
        if self._sent_by_agents("tcp"):
            notes.append("a TCP segment that is sent again is a publication of its own")
        if self.unsent:
            notes.append(
                f"{self.unsent} messages handed to the link never came on the air, and count as not sent"
            )
        if not moved:
            notes.append(
                "where everyone was is not told (--movement FILE tells it): no neighbours, no energy"
            )
        notes.append("interests, routers' tables and states are nothing that ns-2 traces")
        return notes

    def _sent_by_agents(self, kind: str) -> bool:
        return any(key[0] == "s" and key[1] == "AGT" and key[3] == kind for key in self.counts)


def name_cause(reason: str, layer: str) -> str:
    """Our word for a reason of ns-2's at a layer."""
    if reason == "IFQ":
        return "queue_full" if layer in ("IFQ", "LL", "MAC") else "table_full"
    return CAUSES.get(reason, reason.lower().strip("-") or "untold")


def has_rows(cause: str) -> bool:
    """Whether drops for this cause have rows; the others are only counted, as in our own runs."""
    return cause not in _UNCOUNTED


def name_run(path: str) -> str:
    """What a run is called after its file."""
    name = Path(path).name
    for ending in (".gz", ".tr", ".trace", ".txt", ".xml", ".gpx", ".csv", ".mov", ".movements"):
        name = name.removesuffix(ending)
    return safe_name(name) if name else "trace"


def drop_peer(record: TraceRecord) -> int:
    """Who sent what was dropped, or whom it was for."""
    if record.layer != "MAC":
        return -1
    return record.mac_from if record.event == "d" and record.reason == "COL" else record.mac_to
