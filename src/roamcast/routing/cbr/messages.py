"""What CBR and FT-CBR say (Table 2 of the paper)."""

from __future__ import annotations

from typing import Annotated

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Hops, Incarnation, Int, ListOf, Node, PublicationId, Serial

HIGHEST_COUNT = 2**16 - 1
UNREACHABLE = 255
"Hops of an advertisement that tells the newest serial of a publisher and leads nowhere."


class Advert(Message, number=16, category=Category.ROUTING, role=Role.OFFERS):
    """What a publisher is going to publish, and how far from it the speaker is."""

    publisher: Node
    pattern: Filter
    hops: Hops
    serial: Serial
    """Counted by the publisher, so that neighbours cannot keep a dead publisher alive among themselves. In a
    circle: after the highest comes 0."""
    incarnation: Incarnation = 0
    "The publisher's; another one means that it has forgotten everything."


class Subscription(Message, number=17, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """What the speaker wants, for itself or for others: it does not say which."""

    pattern: Filter


class MostCovering(Message, number=18, category=Category.SUBSCRIPTION, role=Role.BEACONS):
    """How many subscriptions the speaker has under a pattern, and how far they travel to the publisher."""

    publisher: Node
    pattern: Filter
    count: Annotated[int, Int(2, least=1, most=HIGHEST_COUNT)]
    hops: Hops


class TreeEvent(Message, number=19, category=Category.EVENT, role=Role.CARRIES):
    """A publication on its way down the tree, or flooded in search of lost children."""

    publication: Publication
    children: Annotated[frozenset[Node], ListOf(1024)]
    "Who is to take it."
    flood: Hops = 0
    "Hops left to flood; 0 on the tree."


class EventAck(Message, number=20, category=Category.CONTROL, role=Role.ACKNOWLEDGES):
    """One hop's word that an event has arrived."""

    id: PublicationId
