"""The messages of CLONE and grid-based CBR."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.wire.fields import Hops, Incarnation, Int, ListOf, Node, PublicationId, Serial

HEAVIEST = 2**16 - 1
UNREACHABLE = 255
"Hop count of an unreachable principal."
MOST_INTERESTS = 32
MOST_TARGETS = 64

Weight: TypeAlias = Annotated[int, Int(2)]
Interests: TypeAlias = Annotated[frozenset[Annotated[int, Int(4)]], ListOf(MOST_INTERESTS)]
"Digests of the filters that a node requested recently."
Members: TypeAlias = Annotated[int, Int(2)]


class CommunityBeacon(Message, number=84, category=Category.ROUTING, role=Role.BEACON):
    """Position, interests and community of the sender."""

    here: PointCm
    interests: Interests
    principal: Node
    weight: Weight
    "Weight of the principal."
    parent: Node
    "The sender's next hop to its principal; its own id, if it is the principal or has no route."
    hops: Hops
    "Distance to the principal."
    members: Members
    """Number of nodes that reach the principal through the sender, including itself; at the principal, of the
    whole community."""


class ProviderAdvert(Message, number=85, category=Category.ROUTING, role=Role.ADVERTISEMENT):
    """An advertisement of a provider, with its position at that time."""

    provider: Node
    pattern: Filter
    place: PointCm
    serial: Serial
    incarnation: Incarnation
    hops: Hops


class Vote(Message, number=86, category=Category.CONTROL, role=Role.ROUTING):
    """A node is a candidate for principal."""

    candidate: Node
    weight: Weight
    place: PointCm
    interests: Interests
    hops: Hops


class Confirmation(Message, number=87, category=Category.CONTROL, role=Role.ROUTING):
    """A node is a principal."""

    principal: Node
    weight: Weight
    place: PointCm
    interests: Interests
    hops: Hops


class Merge(Message, number=88, category=Category.CONTROL, role=Role.ROUTING):
    """The sender's community is an orphan and asks to merge with another."""

    principal: Node
    weight: Weight
    hops: Hops
    "Distance from the sender to that principal."


class CommunityWish(Message, number=89, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A subscription or request of a member, on its way to the principal."""

    pattern: Filter
    standing: bool
    "Whether it is a subscription; otherwise a request for one event."
    hops: Hops


class ProviderWish(Message, number=90, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A subscription of a principal, on its way to a provider, with the principal's position."""

    provider: Node
    pattern: Filter
    principal: Node
    place: PointCm


class Nearby(Message, number=91):
    """A message for a node that was not found at its last known position, in a local search."""

    target: Node
    hops: Hops
    "Remaining hops."
    payload: Message


class ProviderEvent(Message, number=92, category=Category.EVENT, role=Role.EVENT):
    """A publication on its way to a principal."""

    publication: Publication
    principal: Node


class CommunityEvent(Message, number=93, category=Category.EVENT, role=Role.EVENT):
    """A publication on its way from a principal to a member."""

    publication: Publication


class Delegation(Message, number=94, category=Category.CONTROL, role=Role.REPAIR_REQUEST):
    """A provider asks a principal that has a publication to send it to another principal."""

    id: PublicationId
    delegate: Node
    principal: Node
    place: PointCm
    "Position of the receiving principal."


class MulticastTarget(NamedTuple):
    """A principal and its last known position."""

    principal: Node
    place: PointCm


class BranchEvent(Message, number=95, category=Category.EVENT, role=Role.EVENT):
    """A publication on a geographic multicast tree to several principals."""

    publication: Publication
    targets: Annotated[tuple[MulticastTarget, ...], ListOf(MOST_TARGETS, least=1)]
    hops: Hops
    "Remaining hops."
