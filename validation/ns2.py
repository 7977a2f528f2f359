"""Running ns-2 (Debian's package `ns2`): a movement and a schedule in, counts and times out."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Timer

import numpy as np

from roamcast.errors import UserError

TCL = Path(__file__).parent / "tcl"
NETWORK_HEADER = 20
"Bytes that ns-2's agents do not add to a broadcast by themselves."
RATES = (2e6, 1e6)
FEED = 0.0011
"Seconds between packets of a saturated source: more than the air can take."
PATIENCE = 900.0
"Seconds after which a run of ns-2 is given up: some of its options make it loop for ever."


class Ns2Missing(UserError):
    """The rival is not installed."""


@dataclass(frozen=True)
class Send:
    """A publication of the schedule; for unicast, with its receivers."""

    time: float
    publisher: int
    size: int = 512
    receivers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ground:
    """Where a comparison takes place: who moves how, for how long."""

    nodes: int
    width: float
    height: float
    seconds: float
    movement: Path


@dataclass
class Outcome:
    """What a run came to, in the same terms for ns-2 and for us."""

    delivery: float
    "Share of the expected (event, receiver) pairs that arrived."
    delay: float
    "Mean seconds from publication to delivery."
    transmissions: int
    "Messages sent, each hop and each node counting."
    routing: int = 0
    "Of these, routing messages."
    cpu_seconds: float = 0.0
    memory: int = 0
    "Peak resident bytes."
    received: int = 0
    "Copies decoded, duplicates included."
    median: float = float("nan")
    "Median seconds from publication to delivery."
    p95: float = float("nan")
    "95th percentile of the seconds from publication to delivery."
    drops: dict[str, int] = field(default_factory=dict)
    "By ns-2's three-letter reason or our name."


@dataclass(frozen=True)
class Finished:
    """A process that has ended well."""

    cpu_seconds: float
    memory: int


def version() -> str:
    """The version of ns-2 that is installed."""
    _require()
    with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
        script.write("puts [ns-version]\n")
        script.flush()
        return subprocess.run(["ns", script.name], capture_output=True, text=True, check=True).stdout.strip()


def _require() -> None:
    if shutil.which("ns") is None:
        raise Ns2Missing("ns-2 is not installed; on Debian or Ubuntu: apt-get install ns2")


def run(script: str, **options: object) -> Finished:
    """Run one of our Tcl scripts to its end."""
    _require()
    fields = [f"{key}={value}" for key, value in options.items()]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            ["ns", str(TCL / f"{script}.tcl"), *fields], stdout=subprocess.DEVNULL, stderr=complaints
        )
        watch = Timer(PATIENCE, process.kill)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            raise UserError(
                f"ns-2 failed in {script}.tcl: {complaints.read().decode(errors='replace')[-500:]}"
            )
    return Finished(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def flood(
    ground: Ground,
    sends: list[Send],
    seed: int,
    *,
    jitter: float = 0.01,
    rates: tuple[float, float] = RATES,
    newest_first: bool = False,
) -> Outcome:
    """Flood each publication to everyone; `rates` are those of data and of broadcasts, in b/s."""
    with tempfile.TemporaryDirectory() as folder:
        schedule, out = Path(folder, "schedule.tcl"), Path(folder, "out.txt")
        schedule.write_text(
            "".join(
                f'$ns_ at {s.time!r} "publish {s.publisher} {number} {s.size + NETWORK_HEADER}"\n'
                for number, s in enumerate(sends)
            )
        )
        ended = run(
            "flood",
            **_options(ground, seed),
            schedule=schedule,
            out=out,
            jitter=jitter,
            prefer=int(newest_first),
            data=rates[0],
            basic=rates[1],
        )
        delays = []
        sent = received = 0
        with out.open() as lines:
            for line in lines:
                kind, *rest = line.split()
                if kind == "D":
                    delays.append(float(rest[2]) - sends[int(rest[0])].time)
                else:
                    sent, received = int(rest[0]), int(rest[1])
    return Outcome(
        delivery=len(delays) / (len(sends) * (ground.nodes - 1)),
        delay=_mean(delays),
        transmissions=sent,
        received=received,
        cpu_seconds=ended.cpu_seconds,
        memory=ended.memory,
    )


def unicast(
    ground: Ground,
    sends: list[Send],
    seed: int,
    *,
    feedback: bool,
    routing: str = "DSDV",
    since: float = 0.0,
    rates: tuple[float, float] = RATES,
) -> Outcome:
    """Send each publication to each of its receivers over a routing protocol; count from `since` on."""
    with tempfile.TemporaryDirectory() as folder:
        schedule, trace = Path(folder, "schedule.tcl"), Path(folder, "trace.txt")
        schedule.write_text(
            "".join(
                f'$ns_ at {s.time!r} "send {s.publisher} {receiver} {number} {s.size}"\n'
                for number, s in enumerate(sends)
                for receiver in s.receivers
            )
        )
        ended = run(
            "unicast",
            **_options(ground, seed),
            schedule=schedule,
            trace=trace,
            agenttrace="ON",
            routertrace="ON",
            prefer=1,
            routing=routing,
            feedback=int(feedback),
            cbr=int(routing != "DSDV"),
            ifq="CMUPriQueue" if routing == "DSR" else "Queue/DropTail/PriQueue",
            data=rates[0],
            basic=rates[1],
        )
        with trace.open() as lines:
            outcome = read_unicast_trace(lines, since)
    outcome.cpu_seconds, outcome.memory = ended.cpu_seconds, ended.memory
    return outcome


def read_unicast_trace(lines: Iterable[str], since: float) -> Outcome:
    """Read an ns-2 trace (new format) of agents and routers."""
    sent_at: dict[str, float] = {}
    delays: list[float] = []
    routing = hops = 0
    drops: dict[str, int] = {}
    for line in lines:
        fields = line.split(" ", 3)
        if " -Nl " not in line or float(fields[2]) < since:
            continue  # lines of movement have no layer
        what, time = fields[0], float(fields[2])
        where = line[line.index(" -Nl ") + 5 : line.index(" -Nl ") + 8]
        kind = line[line.index(" -It ") + 5 :].split(" ", 1)[0] if " -It " in line else ""
        if kind in ("udp", "cbr"):
            packet = line[line.index(" -Ii ") + 5 :].split(" ", 1)[0]
            if where == "AGT" and what == "s":
                sent_at[packet] = time
            elif where == "AGT" and what == "r" and packet in sent_at:
                delays.append(time - sent_at[packet])
            elif what in "sf" and where == "RTR":
                hops += 1
            elif what == "d":
                reason = line[line.index(" -Nw ") + 5 :].split(" ", 1)[0]
                drops[reason] = drops.get(reason, 0) + 1
        elif kind in ("message", "AODV", "DSR") and where == "RTR" and what in "sf":
            routing += 1
    return Outcome(
        delivery=len(delays) / max(len(sent_at), 1),
        delay=_mean(delays),
        median=median(delays) if delays else float("nan"),
        p95=float(np.percentile(delays, 95)) if delays else float("nan"),
        transmissions=hops + routing,
        routing=routing,
        drops=drops,
    )


def cell(stations: int, seconds: float, seed: int, *, payload: int, broadcast: bool, rts: bool) -> float:
    """Frames a second that get through in a saturated cell with capture off."""
    warmup = 1.0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.txt")
        run(
            "cell",
            nodes=stations,
            senders=stations,
            width=100,
            height=100,
            seconds=warmup + seconds,
            warmup=warmup,
            every=(0.001 if broadcast else 0.002) * stations,
            seed=seed,
            bytes=payload + NETWORK_HEADER,
            broadcast=int(broadcast),
            rts=0 if rts else 3000,
            capture=1e12,
            out=out,
        )
        received = int(out.read_text().split()[1])
    return received / seconds / ((stations - 1) if broadcast else 1)


def flows(
    places: list[tuple[float, float]],
    paths: list[list[int]],
    seconds: float,
    seed: int,
    *,
    rts: int = 0,
    rates: tuple[float, float] = RATES,
) -> list[float]:
    """Packets a second at the end of each path, along which a saturated flow of 512 B goes."""
    warmup = 1.0
    with tempfile.TemporaryDirectory() as folder:
        out, movement = Path(folder, "out.txt"), Path(folder, "places.tcl")
        movement.write_text(
            "".join(
                f"$node_({node}) set X_ {x}; $node_({node}) set Y_ {y}; $node_({node}) set Z_ 0\n"
                for node, (x, y) in enumerate(places)
            )
        )
        run(
            "flows",
            nodes=len(places),
            width=max(x for x, _ in places) + 1,
            height=max(y for _, y in places) + 1,
            seconds=warmup + seconds,
            warmup=warmup,
            movement=movement,
            paths=" ".join("{" + " ".join(map(str, path)) + "}" for path in paths),
            every=FEED,
            seed=seed,
            bytes=512 + NETWORK_HEADER,
            rts=rts,
            data=rates[0],
            basic=rates[1],
            out=out,
        )
        lines = (line.split() for line in out.read_text().splitlines())
        return [int(arrived) / seconds for _, _, arrived in lines]


def _options(ground: Ground, seed: int) -> dict[str, object]:
    return {
        "nodes": ground.nodes,
        "width": ground.width,
        "height": ground.height,
        "seconds": ground.seconds,
        "movement": ground.movement,
        "seed": seed,
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
