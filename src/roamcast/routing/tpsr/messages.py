"""Messages of P-PUBS and TPSR."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Float, Hops, Int, ListOf, Node, PublicationId, Sequence

MOST_RECIPIENTS = 1024
"Maximum number of recipients of a publication."
MOST_FILTERS = 255
"Maximum number of filters of a subscriber in one message."
LONGEST_ROUTE = 64

UNKNOWN = 0.0
"Signal before the first hop, or if the radio does not report it."

Signal = Annotated[float, Float(8, least=UNKNOWN)]
"Received power [W]."


def weaker(one: float, other: float) -> float:
    """Return the weaker of two signals [W]; an unknown one (0 or nan) is ignored."""
    return other if other > UNKNOWN and (one == UNKNOWN or other < one) else one


class PampaEvent(Message, number=64, category=Category.EVENT, role=Role.EVENT, dedup_field="publication_id"):
    """A publication flooded by PAMPA."""

    publication: Publication
    hops: Hops = 0


class RouteSubscription(Message, number=65, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A flooded subscription; the nodes that repeat it form the route back to the subscriber."""

    subscriber: Node
    serial: Sequence
    "Number of this renewal; begins with the incarnation, so that it increases even after a loss of memory."
    filters: Annotated[tuple[Filter, ...], ListOf(MOST_FILTERS)]
    "All current filters of the subscriber; empty if it has unsubscribed."
    weakest: Signal
    "The weakest received signal of all hops [W]."
    route: Annotated[tuple[Node, ...], ListOf(LONGEST_ROUTE)] = ()
    "The nodes that have repeated it, in order; the last is the sender."

    def inconsistency(self) -> str | None:
        """Return an error if the route visits a node twice."""
        nodes = (self.subscriber, *self.route)
        return None if len(set(nodes)) == len(nodes) else "its route visits a node twice"


class Job(NamedTuple):
    """The recipients to which one neighbour is to forward a publication."""

    addressee: Node
    delay_index: Annotated[int, Int(2, most=MOST_RECIPIENTS)]
    "Position in the transmission order of the addressees."
    recipients: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS, least=1)]


class RoutedEvent(Message, number=66, category=Category.EVENT, role=Role.EVENT):
    """A publication forwarded along source routes, with one job per next hop."""

    publication: Publication
    weakest: Signal = UNKNOWN
    "The weakest received signal of all hops [W]."
    jobs: Annotated[tuple[Job, ...], ListOf(MOST_RECIPIENTS)] = ()
    "Empty if a recipient repeats the publication only as an acknowledgement."

    def inconsistency(self) -> str | None:
        """Return an error if two jobs have the same addressee."""
        addressees = {job.addressee for job in self.jobs}
        return None if len(addressees) == len(self.jobs) else "it has two jobs for the same addressee"


class JobAck(Message, number=67, category=Category.CONTROL, role=Role.EVENT_ACK):
    """An addressee's acknowledgement of a job, if it forwards nothing that could be overheard."""

    id: PublicationId
    to: Node
    "The sender of the job."


class Rescue(Message, number=68, category=Category.EVENT, role=Role.EVENT):
    """A publication whose route is broken, for a neighbour with another route to its recipients."""

    publication: Publication
    weakest: Signal
    recipients: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS, least=1)]
    avoid: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS)]
    "Nodes that the other route must avoid: the sender, and nodes that did not answer it."
    within: Hops
    "Maximum length of the other route [hops]."
