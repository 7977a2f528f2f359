"""Messages of CBR and FT-CBR (Table 2 of the paper)."""

from __future__ import annotations

from typing import Annotated

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Hops, Incarnation, Int, ListOf, Node, PublicationId, Serial

HIGHEST_COUNT = 2**16 - 1
UNREACHABLE = 255
"Hop count of an advertisement that only announces the newest serial of a publisher, without a route."


class Advert(Message, number=16, category=Category.ROUTING, role=Role.ADVERTISEMENT):
    """A publisher's advertisement, with the sender's distance to the publisher."""

    publisher: Node
    pattern: Filter
    hops: Hops
    serial: Serial
    """Counted by the publisher modulo 2^32, so that neighbours cannot renew the lease of a dead publisher
    among themselves."""
    incarnation: Incarnation = 0
    "The publisher's incarnation; a change means that it has lost its memory."


class Subscription(Message, number=17, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A subscription of the sender, on its own behalf or for a child; the message does not tell which."""

    pattern: Filter


class NamedSubscription(Message, number=21, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A subscription with its subscriber (`s.sbr` of table 2)."""

    pattern: Filter
    subscriber: Node


class MostCovering(Message, number=18, category=Category.SUBSCRIPTION, role=Role.BEACON):
    """The number of the sender's subscriptions that a filter covers, and their distance to the publisher."""

    publisher: Node
    pattern: Filter
    count: Annotated[int, Int(2, least=1, most=HIGHEST_COUNT)]
    hops: Hops


class TreeEvent(Message, number=19, category=Category.EVENT, role=Role.EVENT):
    """A publication on its way down the tree, or in a repair flood for missing children."""

    publication: Publication
    children: Annotated[frozenset[Node], ListOf(1024)]
    "The children that are to handle it."
    flood: Hops = 0
    "Remaining hops of the flood; 0 on the tree."


class EventAck(Message, number=20, category=Category.CONTROL, role=Role.EVENT_ACK):
    """A child's acknowledgement of an event to its parent."""

    id: PublicationId
