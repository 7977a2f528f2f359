"""The messages of GPSR; positions are in whole centimetres, of six bytes as in Karp's agent."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.routing.router import Category, Message, Position, Role
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.wire.fields import HIGHEST_NODE, Hops, Int, ListOf, Node, Serial

FARTHEST = 2**23 - 1
"Maximum coordinate [cm]: 83 km from the origin."

Centimetres: TypeAlias = Annotated[int, Int(3, least=-FARTHEST, most=FARTHEST)]

ANYONE = HIGHEST_NODE
"Destination of messages for any node near a position."


class PointCm(NamedTuple):
    """A position as sent; integer coordinates make the face geometry exact."""

    x: Centimetres
    y: Centimetres


class PerimeterState(NamedTuple):
    """The progress of a packet in perimeter mode around the faces between it and its goal."""

    entered: PointCm
    "Lp: the position where perimeter mode began."
    crossed: PointCm
    "Lf: the point where the line from there to the goal enters the current face."
    first_from: Node
    first_to: Node
    "e0: the first edge on the current face; a packet about to take it again has gone all around."


class Beacon(Message, number=61, category=Category.ROUTING, role=Role.BEACON):
    """The position of the sender."""

    here: PointCm


class GeoPacket(Message, number=62):
    """A message on its way to a position: for the node there, or for any node near it."""

    origin: Node
    destination: Node
    goal: PointCm
    radius: Annotated[int, Int(2)]
    "Distance from the goal within which any node may accept it [m]. 0: only the destination."
    serial: Annotated[int, Int(2)]
    "Counter of the origin, by which duplicates made by a link are recognised."
    hops: Hops
    "Remaining hops."
    here: PointCm
    "Position of the sender, which replaces a beacon."
    face: Annotated[tuple[PerimeterState, ...], ListOf(1)]
    "Empty in greedy mode."
    payload: Message


class Whereabouts(Message, number=63, category=Category.ROUTING, role=Role.ROUTING):
    """A node's position, flooded to all nodes as a simple location service."""

    node: Node
    place: PointCm
    serial: Serial
    hops: Hops
    "Remaining hops."
    here: PointCm
    "Position of the sender."


def to_point_cm(position: Position) -> PointCm:
    """Return a position as sent: the nearest representable point, or the origin if it is not a number."""
    return Places.rounded(position, PointCm, FARTHEST)
