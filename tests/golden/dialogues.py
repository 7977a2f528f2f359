"""Routers in a small mesh in which a lot goes wrong, and everything that they say, let go, tell and remember.

Known runs have a radio and go well most of the time. Here links lose and repeat messages, nodes crash, sleep
and part, leases are short, and for a third of the time strangers repeat what they have heard with a field
changed: so most of what a router can do is done within a minute of the mesh's time.
"""

from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple, get_args

import msgspec
from pydantic import BaseModel, ValidationError

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing import catalogue
from roamcast.routing.faults import FaultKind
from roamcast.routing.profiles import with_profile
from roamcast.testing import Mesh
from roamcast.testing.links import LinkModel
from roamcast.wire.codec import encode
from roamcast.wire.errors import WireError
from roamcast.wire.field import GenerationContext
from roamcast.wire.message import Message
from roamcast.wire.numbers import Int
from roamcast.wire.publication import Publication

Note = EventType("note", {"zone": Integer()})
FILTERS = (Note.zone >= 0, Note.zone == 2, Note.zone >= 3, (Note.zone >= 1) & (Note.zone <= 3))
LINKS = LinkModel(jitter=0.004, loss=0.08, duplicate=0.05, tries=2)
CALM, HOSTILE, END = 16.0, 30.0, 46.0
"Seconds until strangers speak, until they fall silent, and until the end."


HURRIED: dict[str, dict[str, Any]] = {
    "cbr": {"renew": 3.0, "expire": 7.0},
    "raft": {"ping_wait": 2.0, "cache_lease": 4.0, "recall": 20.0, "dsdv": {"period": 3.0, "settling": 1.0}},
    "tpsr": {"renew": 5.0, "expire": 12.0},
    "dsdv": {"period": 3.0, "settling": 1.0, "queue_timeout": 4.0},
    "tiers": {
        **{
            "advertise": 4.0,
            "advert_lease": 12.0,
            "adverts_per_construction": 2,
            "renew": 2.0,
            "subscription_lease": 6.0,
        },
        **{"resubscribe": 4.0, "service_lease": 10.0, "radius": 250.0, "voting": 1.5, "vote_delay": 0.3},
    },
    "aodv": {
        **{"active_route_timeout": 3.0, "my_route_timeout": 6.0, "reboot_wait": 7.0, "delete_period": 8.0},
        **{"buffer_timeout": 4.0},
    },
    "dsr": {"cache_timeout": 6.0, "buffer_timeout": 4.0, "longest_wait": 3.0, "flow_timeout": 5.0},
    "gpsr": {"queue_timeout": 2.0, "announce": 3.0, "known": 8.0},
    "odmrp": {"refresh": 2.0, "refresh_most": 4.0, "timeout": 5.0},
}
"Durations that end within the dialogue."
OF: dict[str, dict[str, Any]] = {
    "flooding": {},
    "cbr": HURRIED["cbr"],
    "ft-cbr": HURRIED["cbr"],
    "raft-cbr": {**HURRIED["cbr"], **HURRIED["raft"]},
    "p-pubs": {},
    "tpsr": HURRIED["tpsr"],
    "dsdv-unicast": HURRIED["dsdv"],
    "grid-cbr": {**HURRIED["tiers"], "side": 300.0},
    "clone": {**HURRIED["tiers"], "reorganise": 4.0},
    "aodv-unicast": HURRIED["aodv"],
    "dsr-unicast": HURRIED["dsr"],
    "gpsr-unicast": HURRIED["gpsr"],
    "odmrp": {**HURRIED["odmrp"], "announce": 3.0},
    "pubsub-odmrp": {**HURRIED["odmrp"], "client_lease": 5.0, "dsdv": HURRIED["dsdv"]},
}
VARIANTS = ("usual", "cramped", "switched", "switched-too")
"Hurried; with room for three in every table; with every other switch turned; with those between turned."


def _vary(model: type[BaseModel], hurried: dict[str, Any], variant: str) -> dict[str, Any]:
    """Parameters of a variant: each is changed unless it then contradicts those before."""
    values = dict(hurried)
    for place, (name, field) in enumerate(model.model_fields.items()):
        default = field.get_default(call_default_factory=True)
        others: list[Any] = []
        if isinstance(default, BaseModel):
            others = [_vary(type(default), values.get(name, {}), variant)]
        elif variant == "cramped":
            others = [3] if type(default) is int and default >= 16 else []
        elif variant.startswith("switched") and place % 2 == (variant == "switched"):
            others = [not default] if isinstance(default, bool) else list(get_args(field.annotation))[::-1]
            others = [other for other in others if isinstance(other, bool | str) and other != default]
        for other in others[:1]:
            try:
                model.model_validate({**values, name: other})
            except ValidationError:
                continue
            values[name] = other
    return values


class Dialogue(NamedTuple):
    protocol: str
    parameters: dict[str, Any]

    def play(self) -> list[str]:
        """All that happens, a line each, in order of time."""
        router = catalogue.find(self.protocol)
        parameters = router.parameters_type.model_validate(with_profile(router, self.parameters))
        mesh = Mesh.grid(4, 2, lambda host: router(host, parameters), links=LINKS, seed=7)
        mesh.add_event_type(Note)
        for node in range(8):
            mesh.place(node, 170.0 * (node % 4), 150.0 * (node // 4), vx=float(node % 3), vy=0.5 - node % 2)
        looks: list[tuple[float, int, str, object]] = []
        _plan(mesh)
        for second in range(int(END)):
            mesh.call_at(second + 0.5, _look, mesh, looks)
        strangers = _strangers(mesh, router.messages)
        for place in range(int((HOSTILE - CALM) / 0.07)):
            mesh.call_at(CALM + 0.07 * place, next, strangers)
        mesh.run(for_=END)
        return [str(router.traits(parameters)), *_lines(mesh, looks)]


def _plan(mesh: Mesh) -> None:
    """What applications do, and what befalls nodes and links."""
    at = mesh.call_at
    at(0.2, mesh.advertise, 0, FILTERS[0])
    at(0.9, mesh.advertise, 5, FILTERS[3])
    at(21.0, mesh.advertise, 5, FILTERS[2])
    for time, node, number in ((0.5, 7, 0), (0.6, 3, 1), (1.2, 6, 2), (3.3, 2, 3), (3.4, 2, 1), (26.0, 4, 0)):
        at(time, mesh.subscribe, node, FILTERS[number])
    at(9.0, mesh.unsubscribe, 2, FILTERS[3])
    at(33.0, mesh.unsubscribe, 7, FILTERS[0])
    for time, node in ((6.0, 1), (19.0, 4), (35.0, 6)):
        at(time, mesh.request, node, FILTERS[2])
    at(22.0, lambda: mesh.routers[4].cancel_request(FILTERS[2]))
    for turn in range(64):
        node, time = (0, 0, 5, 0, 5, 3)[turn % 6], 2.0 + 0.63 * turn
        at(time, mesh.publish, node, Note(zone=turn * 3 % 5), (64, 512, 1400)[turn % 3])
        if turn % 8 == 0:
            at(time + 0.004, mesh.publish, node, Note(zone=2))
    at(10.0, mesh.cut, 1, 2)
    at(12.0, mesh.inject_fault, 6, FaultKind.RADIO_OFF)
    at(14.5, mesh.inject_fault, 6, FaultKind.RADIO_ON)
    at(15.0, mesh.join, 1, 2)
    at(18.0, mesh.kill, 2)
    at(23.0, mesh.revive, 2)
    at(24.0, mesh.subscribe, 2, FILTERS[0])
    at(27.0, mesh.inject_fault, 5, FaultKind.SLEEP)
    at(28.5, mesh.inject_fault, 5, FaultKind.WAKE)
    at(31.0, mesh.join, 0, 7)
    at(36.0, mesh.cut, 0, 7)
    at(38.0, mesh.kill, 1)


def _look(mesh: Mesh, looks: list[tuple[float, int, str, object]]) -> None:
    for node, router in enumerate(mesh.routers):
        looks += [(mesh.now, node, "table", (name, *size)) for name, size in router.tables().items()]


def _strangers(mesh: Mesh, kinds: tuple[type[Message], ...]) -> Iterator[None]:
    """Say what was said lately once more, in someone's name, mostly with another value in one field."""
    random = Random(5)
    events = [
        Publication(node, sequence, Note(zone=sequence % 5)) for node in (0, 5, 8) for sequence in (1, 30, 60)
    ]
    about = GenerationContext(random, nodes=range(9), patterns=FILTERS, publications=events, messages=kinds)
    while True:
        said = random.choice(mesh.sent[-60:]).message if mesh.sent else None
        message = said and _altered(said, about)
        if message is not None and message.inconsistency() is None:
            try:
                data = encode(message)
            except WireError:
                pass
            else:
                mesh.inject(random.randrange(8), data, random.randrange(9), random.choice((1e-9, 1e-8, 1e-7)))
        yield


def _altered(message: Message, about: GenerationContext) -> Message:
    random = about.random
    if message.envelope is not None and random.random() < 0.6:
        return msgspec.structs.replace(
            message, **{message.envelope: _altered(getattr(message, message.envelope), about)}
        )
    if random.random() < 0.15 or not message.fields:
        return message
    name = random.choice(sorted(message.fields))
    field, value = message.fields[name], getattr(message, name)
    near = isinstance(field, Int) and random.random() < 0.6
    return msgspec.structs.replace(
        message, **{name: value + random.choice((-2, -1, 1, 2)) if near else field.generate(about)}
    )


def _lines(mesh: Mesh, looks: list[tuple[float, int, str, object]]) -> list[str]:
    rows = [
        *((s.time, s.node, "says", (s.message, s.to)) for s in mesh.sent),
        *((d.time, d.node, "lets go", (d.message, d.reason.name, d.to)) for d in mesh.drops),
        *((d.time, d.node, "gets", d.publication) for d in mesh.deliveries),
        *((s.time, s.node, "is", (s.name, s.value)) for s in mesh.states),
        *((s.time, s.node, "would have said", (s.message, s.to)) for s in mesh.belated),
        *looks,
    ]
    rows.sort(key=lambda row: row[0])
    return [f"{time:.6f} {node} {what} {entry}" for time, node, what, entry in rows]


def _dialogues() -> dict[str, Dialogue]:
    named: dict[str, Dialogue] = {}
    for protocol, hurried in OF.items():
        model = catalogue.find(protocol).parameters_type
        for variant in VARIANTS:
            dialogue = Dialogue(protocol, _vary(model, hurried, variant))
            if dialogue not in named.values():
                named[f"{protocol}-{variant}"] = dialogue
    return named


DIALOGUES = _dialogues()
"By name; a variant that is none is left out."


def digests(lines: list[str]) -> dict[str, str]:
    """What each second of a dialogue comes to, in a few digits, and the traits before it."""
    seconds: dict[str, Any] = {}
    for line in lines:
        seconds.setdefault(second_of(line), sha256()).update(f"{line}\n".encode())
    return {second: digest.hexdigest()[:6] for second, digest in seconds.items()}


def second_of(line: str) -> str:
    """The second of the dialogue that a line belongs to."""
    return line.partition(".")[0] if line[0].isdigit() else "traits"
