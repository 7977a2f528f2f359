"""The configuration of a live node: in Python, or as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from roamcast.content.declare import declare_type
from roamcast.content.errors import ContentError
from roamcast.content.schema import EventType
from roamcast.errors import UserError
from roamcast.files import check_depth, read_text
from roamcast.live.errors import LiveError
from roamcast.live.gateway.settings import MqttSettings
from roamcast.live.link.bearer import Bearer, BroadcastBearer, InterfaceBearer, PeerBearer
from roamcast.live.link.datagrams import Address
from roamcast.live.security.keys import NetworkKey, read_key
from roamcast.routing import catalogue
from roamcast.routing.profiles import LIVE, with_profile
from roamcast.routing.router import NodeId, Parameters, Router
from roamcast.units import FROM_FILE, BitsPerSecond

PORT = 4747


class Config(BaseModel):
    """The configuration of a node: its protocol, network, link, event types and folders."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    protocol: str = "raft-cbr"
    "The protocol; all nodes of a network run the same."
    parameters: dict[str, Any] = Field(default_factory=dict)
    "Parameters of the protocol, over those of its profile; `profile` names another than `live`."
    network: str = "roamcast"
    "The name of an open network, if there is no `key`."
    key: Path | None = None
    "The file of the network key."
    state: Path | None = None
    "The folder for identity, counters and types. Without it, each start is a new node."
    sign: bool = False
    "Whether the node signs its publications."
    verify: bool = False
    "Whether the node verifies signatures also of what it only relays."
    require_signatures: bool = False
    "Whether publications without a signature are refused; the node then signs its own, too."
    name: str = Field("", max_length=64)
    "A name for people, which the node sends to its neighbours."
    interfaces: tuple[str, ...] = ()
    "Network interfaces to use, by IPv6 multicast."
    broadcast: tuple[str, ...] = ()
    "IPv4 broadcast addresses to use."
    port: int = Field(PORT, ge=1, le=65535)
    "The UDP port of multicasts and broadcasts."
    listen: str | None = None
    "An address with a port, as 127.0.0.1:7001, to exchange frames with `peers` alone."
    peers: tuple[str, ...] = ()
    "Addresses of those in range; with `listen`."
    budget: BitsPerSecond | None = Field(None, gt=0)
    "Bits a second that the node may send."
    position: tuple[float, float] | None = None
    "Where the node is [m], for protocols that need positions."
    audience: tuple[NodeId, ...] = ()
    "Receivers of every event, for the unicast baselines, which do not learn subscriptions."
    types: dict[str, dict[str, Any]] = Field(default_factory=dict)
    "Event types by name, each with its fields, as in scenario files."
    control: Path | None = None
    "The Unix socket for `roamcast publish`, `subscribe` and `top`."
    mqtt: MqttSettings | None = None
    "The MQTT broker beside this node."
    metrics: str | None = None
    "An address with a port for Prometheus, as 127.0.0.1:9464."
    facts: Path | None = None
    "The folder for facts, which `roamcast watch` reads."

    @field_validator("metrics")
    @classmethod
    def _check_metrics(cls, address: str | None) -> str | None:
        if address is not None:
            parse_address(address)
        return address

    @field_validator("peers")
    @classmethod
    def _check_peers(cls, peers: tuple[str, ...]) -> tuple[str, ...]:
        for peer in peers:
            parse_address(peer)
        return peers

    def router(self) -> type[Router]:
        """Return the class of the protocol's router."""
        return catalogue.find(self.protocol)

    def router_parameters(self) -> Parameters:
        """Return the parameters of the router: the profile's, and those given over them."""
        router = self.router()
        given = with_profile(router, {"profile": LIVE, **self.parameters})
        try:
            return router.parameters_type.model_validate(given)
        except ValidationError as error:
            known = router.parameters_type.model_fields
            raise LiveError(f"parameters of {self.protocol}: {_first(error, known)}") from None

    def network_key(self) -> NetworkKey:
        """Return the key of the network."""
        return NetworkKey.of_open_network(self.network) if self.key is None else read_key(self.key)

    def event_types(self) -> dict[str, EventType]:
        """Return the configured event types by name."""
        try:
            return {name: declare_type(name, fields) for name, fields in self.types.items()}
        except ContentError as error:
            raise LiveError(f"types: {error}") from None

    def bearers(self) -> list[Bearer]:
        """Return the bearers of the link."""
        found: list[Bearer] = [InterfaceBearer(each, self.port) for each in self.interfaces]
        found += [BroadcastBearer(each, self.port) for each in self.broadcast]
        if self.listen is not None:
            found.append(PeerBearer(parse_address(self.listen), [parse_address(each) for each in self.peers]))
        if not found:
            raise LiveError("no link: a node needs `interfaces`, `broadcast`, or `listen` with `peers`")
        return found


def parse_address(text: str) -> Address:
    """Return host and port of an address written as 127.0.0.1:7001 or [::1]:7001."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise LiveError(f"{text!r} is not an address with a port; write it like 127.0.0.1:7001 or [::1]:7001")
    return host.removeprefix("[").removesuffix("]"), int(port)


def read_config(path: Path) -> Config:
    """Return the configuration in a TOML file; its paths are relative to the file's folder."""
    text = read_text(path)
    check_depth(path, text)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LiveError(f"{path}: not TOML: {error}") from None
    _locate(data, ("key", "state", "control", "facts"), path.parent)
    if isinstance(data.get("mqtt"), dict):
        _locate(data["mqtt"], ("password", "ca"), path.parent)
    try:
        return Config.model_validate(data, context=FROM_FILE)
    except ValidationError as error:
        raise LiveError(f"{path}: {_first(error, Config.model_fields)}") from None
    except UserError as error:
        raise LiveError(f"{path}: {error}") from None


def _locate(data: dict[str, Any], keys: Iterable[str], folder: Path) -> None:
    """Make paths relative to a folder."""
    for key in keys:
        if isinstance(data.get(key), str):
            data[key] = folder / data[key]


def _first(error: ValidationError, known: Iterable[str]) -> str:
    """Return the first error of a validation in one line; `known` are the expected keys."""
    found = error.errors(include_url=False)[0]
    place = ".".join(map(str, found["loc"]))
    if found["type"] == "extra_forbidden":
        return f"unknown key {place!r}; known: {', '.join(known)}"
    return f"{place}: {found['msg']}, not {str(found['input'])[:60]!r}"
