"""What CLONE and grid-based CBR say."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.wire.fields import Hops, Incarnation, Int, ListOf, Node, PublicationId, Serial

HEAVIEST = 2**16 - 1
NO_WAY = 255
"Hops to a principal that cannot be reached."
MOST_INTERESTS = 32
MOST_TARGETS = 64

Weight: TypeAlias = Annotated[int, Int(2)]
Interests: TypeAlias = Annotated[frozenset[Annotated[int, Int(4)]], ListOf(MOST_INTERESTS)]
"What a node asked for lately, by digests of its filters."
Members: TypeAlias = Annotated[int, Int(2)]


class CommunityBeacon(Message, number=84, category=Category.ROUTING, role=Role.BEACONS):
    """The speaker is here, wants this, and belongs to that community."""

    here: PointCm
    interests: Interests
    principal: Node
    weight: Weight
    "Of the principal."
    parent: Node
    "The neighbour over which it reaches its principal; itself, if it is the principal or reaches none."
    hops: Hops
    "To the principal."
    members: Members
    "Of a principal, of its community; of others, those who reach the principal over the speaker, itself too."


class ProviderAdvert(Message, number=85, category=Category.ROUTING, role=Role.OFFERS):
    """What a provider is going to publish, and where it was when it said so."""

    provider: Node
    pattern: Filter
    place: PointCm
    serial: Serial
    incarnation: Incarnation
    hops: Hops


class Vote(Message, number=86, category=Category.CONTROL, role=Role.FINDS_ROUTE):
    """A node would be a principal."""

    candidate: Node
    weight: Weight
    place: PointCm
    interests: Interests
    hops: Hops


class Confirmation(Message, number=87, category=Category.CONTROL, role=Role.FINDS_ROUTE):
    """A node is a principal."""

    principal: Node
    weight: Weight
    place: PointCm
    interests: Interests
    hops: Hops


class Merge(Message, number=88, category=Category.CONTROL, role=Role.FINDS_ROUTE):
    """The speaker's community is an orphan, and would be part of another."""

    principal: Node
    weight: Weight
    hops: Hops
    "From the speaker to that principal."


class CommunityWish(Message, number=89, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """What a member wants, on its way to its principal."""

    pattern: Filter
    standing: bool
    "Whether it wants all that matches, not one event only."
    hops: Hops


class ProviderWish(Message, number=90, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """What a principal wants from a provider, and where it is."""

    provider: Node
    pattern: Filter
    principal: Node
    place: PointCm


class Nearby(Message, number=91):
    """A message for a node that is not where it was believed, in search of it."""

    target: Node
    hops: Hops
    "How many more it may travel."
    payload: Message


class ProviderEvent(Message, number=92, category=Category.EVENT, role=Role.CARRIES):
    """A publication on its way to a principal."""

    publication: Publication
    principal: Node


class CommunityEvent(Message, number=93, category=Category.EVENT, role=Role.CARRIES):
    """A publication on its way from a principal to a member that asked for it."""

    publication: Publication


class Delegation(Message, number=94, category=Category.CONTROL, role=Role.ASKS_AGAIN):
    """A provider asks a principal that has a publication to send it to another."""

    id: PublicationId
    delegate: Node
    principal: Node
    place: PointCm
    "Of that other."


class MulticastTarget(NamedTuple):
    """A principal, and where it was."""

    principal: Node
    place: PointCm


class BranchEvent(Message, number=95, category=Category.EVENT, role=Role.CARRIES):
    """A publication on a geographic multicast tree, on its way to several principals."""

    publication: Publication
    targets: Annotated[tuple[MulticastTarget, ...], ListOf(MOST_TARGETS, least=1)]
    hops: Hops
    "How many more it may travel."
