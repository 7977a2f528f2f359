"""What GPSR says; places are in whole centimetres, of six bytes as in Karp's agent."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.routing.router import Category, Message, Position, Role
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.wire.fields import HIGHEST_NODE, Hops, Int, ListOf, Node, Serial

FARTHEST = 2**23 - 1
"Centimetres from the origin: 83 km."

Centimetres: TypeAlias = Annotated[int, Int(3, least=-FARTHEST, most=FARTHEST)]

ANYONE = HIGHEST_NODE
"The destination of what is for whoever is near a place."


class PointCm(NamedTuple):
    """A position as it is told; whole numbers make the geometry of faces exact."""

    x: Centimetres
    y: Centimetres


class PerimeterState(NamedTuple):
    """How far a packet in perimeter mode has come around the faces between itself and its goal."""

    entered: PointCm
    "Lp: where greedy forwarding ended."
    crossed: PointCm
    "Lf: where the line from there to the goal enters the present face."
    first_from: Node
    first_to: Node
    "e0: the first edge on the present face; who is about to take it again has been all around."


class Beacon(Message, number=61, category=Category.ROUTING, role=Role.BEACONS):
    """The speaker is here."""

    here: PointCm


class GeoPacket(Message, number=62):
    """A message on its way to a place: to the node there, or to whoever is near."""

    origin: Node
    destination: Node
    goal: PointCm
    radius: Annotated[int, Int(2)]
    "Metres; whoever is within may take it. 0: the destination alone."
    serial: Annotated[int, Int(2)]
    "Counted by the origin: a copy that the link made by mistake is known by it."
    hops: Hops
    "How many more it may travel."
    here: PointCm
    "Of the speaker: as good as a beacon."
    face: Annotated[tuple[PerimeterState, ...], ListOf(1)]
    "Empty in greedy mode."
    payload: Message


class Whereabouts(Message, number=63, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """Where a node was, told to everyone: the simplest of location services."""

    node: Node
    place: PointCm
    serial: Serial
    hops: Hops
    "How many more it may travel."
    here: PointCm
    "Of the speaker."


def to_point_cm(position: Position) -> PointCm:
    """A position as it is told: the nearest that can be, and the origin for what is no number."""
    return Places.told(position, PointCm, FARTHEST)
