"""Where Spark runs: here, on a cluster or behind a Spark Connect server; and where it can call back."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_address
from urllib.parse import urlsplit

from roamcast.pipeline.spark.errors import SessionError

LOOPBACK = "127.0.0.1"

_PATIENCE = 5.0
"Seconds for a master to take a connection."

_PORTS = {"spark": 7077, "sc": 15002, "k8s": 443}
"Where a URL names none."


class WarmUse(Enum):
    """Whether a command uses the warm session of this machine (`roamcast session`)."""

    NEVER = "never"
    IF_RUNNING = "if running"
    START = "start"
    "And starts it if there is none."
    ATTACHED = "attached"
    "`SparkOptions.remote` is its URL."


@dataclass(frozen=True)
class SparkOptions:
    """What a user says of the Spark that is to do the work."""

    master: str | None = None
    "As Spark knows masters; by default all processors here."
    remote: str | None = None
    "The URL of a Spark Connect server, instead of a master."
    conf: dict[str, str] = field(default_factory=dict)
    "Spark's settings; they win over ours."
    ui: bool = False
    "Whether Spark's own pages are served."
    event_log: str | None = None
    "A folder for Spark's log of what happened, which its history server reads."
    warm: WarmUse = WarmUse.NEVER
    "Whether the warm session is used; without effect with a master or a server."

    def __str__(self) -> str:
        if self.warm is WarmUse.ATTACHED:
            return "warm session"  # its URL has the token
        return self.remote or self.master or "this machine"

    def arguments(self) -> list[str]:
        """The options that say the same on the command line."""
        words = ["--master", self.master] if self.master else []
        words += ["--remote", self.remote] if self.remote and self.warm is not WarmUse.ATTACHED else []
        words += [word for pair in self.conf.items() for word in ("--conf", "=".join(pair))]
        words += ["--ui"] * self.ui
        return words + (["--event-log", self.event_log] if self.event_log else [])

    def settings(self) -> dict[str, str]:
        """Spark's settings that follow."""
        told: dict[str, str] = {}
        if self.ui:
            told["spark.ui.enabled"] = "true"
        if self.event_log:
            told |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": self.event_log}
        return told | self.conf


def read_settings(pairs: Iterable[str]) -> dict[str, str]:
    """Spark's settings as the command line gives them, KEY=VALUE."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.startswith("spark."):
            raise SessionError(f"--conf {pair!r}: give Spark's settings as spark.some.key=value")
        found[key] = value
    return found


def is_local(master: str) -> bool:
    """Whether all of Spark is on this machine, started by us."""
    return master.startswith("local")


def count_processors(master: str | None) -> int:
    """How many tasks at a time an embedded session does in this machine's own processes; 0 if it is none."""
    if master is None:
        return len(os.sched_getaffinity(0))
    found = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", master)
    if found is None:
        return 0
    return count_processors(None) if found[1] == "*" else int(found[1] or 1)


def find_address(master: str) -> str:
    """The address at which this master's executors can call the driver back."""
    if is_local(master):
        return LOOPBACK
    for host, port in addresses(master) or [("192.0.2.1", 9)]:  # where no host is named: by the default route
        with suppress(OSError):
            found = _route_to(host, port)
            return LOOPBACK if ip_address(found).is_loopback else found
    return LOOPBACK


def _route_to(host: str, port: int) -> str:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)  # a datagram socket sends nothing until it is told to
        return str(probe.getsockname()[0])


def addresses(url: str) -> list[tuple[str, int]]:
    """The hosts and ports that the URL of a master or a server names; several masters may stand by."""
    scheme = url.partition("://")[0]
    if scheme not in _PORTS:
        return []
    rest = re.sub(r"^k8s://(https?://)?|^\w+://", "", url)
    found = []
    for each in rest.partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{each}")
            found.append((parts.hostname or "", parts.port or _PORTS[scheme]))
        except ValueError:
            raise SessionError(f"{url}: {each!r} is no host and port; as in {scheme}://host:7077") from None
    return found


def check_reachable(url: str) -> None:
    """See that somebody answers at `url`, if it names a host; Spark itself takes a minute to notice."""
    troubles = []
    for host, port in addresses(url):
        try:
            with socket.create_connection((host, port), _PATIENCE):
                return
        except OSError as error:
            troubles.append(f"{host}:{port}: {error.strerror or error}")
    if troubles:
        what = "Spark Connect server" if url.startswith("sc://") else "Spark master"
        raise SessionError(
            f"no {what} answers at {url} ({'; '.join(troubles)}); "
            "see that it runs, and that host and port are right"
        )
