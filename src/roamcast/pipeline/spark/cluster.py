"""Where Spark runs: on this machine, on a cluster or behind a Spark Connect server."""

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
"Time for a master to accept a connection [s]."

_PORTS = {"spark": 7077, "sc": 15002, "k8s": 443}
"Default ports of URLs, by scheme."


class WarmUse(Enum):
    """Whether a command uses the warm session of this machine (`roamcast session`)."""

    NEVER = "never"
    IF_RUNNING = "if running"
    START = "start"
    "Use the warm session; start it if none runs."
    ATTACHED = "attached"
    "`SparkOptions.remote` is its URL."


@dataclass(frozen=True)
class SparkOptions:
    """The user's choice of the Spark that does the work."""

    master: str | None = None
    "The URL of a Spark master; by default all processors of this machine."
    remote: str | None = None
    "The URL of a Spark Connect server, instead of a master."
    conf: dict[str, str] = field(default_factory=dict)
    "Settings of Spark; they override those of Roamcast."
    ui: bool = False
    "Whether Spark's web interface is served."
    event_log: str | None = None
    "A folder for Spark's event log, which its history server reads."
    warm: WarmUse = WarmUse.NEVER
    "Whether the warm session is used; without effect with a master or a server."

    def __str__(self) -> str:
        if self.warm is WarmUse.ATTACHED:
            return "warm session"  # its URL has the token
        return self.remote or self.master or "this machine"

    def arguments(self) -> list[str]:
        """Return the equivalent options of the command line."""
        words = ["--master", self.master] if self.master else []
        words += ["--remote", self.remote] if self.remote and self.warm is not WarmUse.ATTACHED else []
        words += [word for pair in self.conf.items() for word in ("--conf", "=".join(pair))]
        words += ["--ui"] * self.ui
        return words + (["--event-log", self.event_log] if self.event_log else [])

    def settings(self) -> dict[str, str]:
        """Return the settings of Spark that result from the options."""
        settings: dict[str, str] = {}
        if self.ui:
            settings["spark.ui.enabled"] = "true"
        if self.event_log:
            settings |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": self.event_log}
        return settings | self.conf


def read_settings(pairs: Iterable[str]) -> dict[str, str]:
    """Return Spark's settings from the command line, given as KEY=VALUE."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.startswith("spark."):
            raise SessionError(f"--conf {pair!r}: give Spark's settings as spark.some.key=value")
        found[key] = value
    return found


def is_local(master: str) -> bool:
    """Return whether all of Spark runs on this machine, started by this command."""
    return master.startswith("local")


def count_processors(master: str | None) -> int:
    """Return the number of parallel tasks of an embedded session on this machine; 0 for other masters."""
    if master is None:
        return len(os.sched_getaffinity(0))
    found = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", master)
    if found is None:
        return 0
    return count_processors(None) if found[1] == "*" else int(found[1] or 1)


def find_address(master: str) -> str:
    """Return the address at which the executors of this master can reach the driver."""
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
        probe.connect(address)  # a datagram socket sends nothing before its first message
        return str(probe.getsockname()[0])


def addresses(url: str) -> list[tuple[str, int]]:
    """Return the hosts and ports in the URL of a server or of one or more masters."""
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
    """Raise `SessionError` if nothing listens at the host of `url`; Spark itself takes a minute to notice."""
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
