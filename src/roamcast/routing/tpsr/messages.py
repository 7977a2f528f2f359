"""What P-PUBS and TPSR say."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Float, Hops, Int, ListOf, Node, PublicationId, Sequence

MOST_RECIPIENTS = 1024
"Of a publication."
MOST_WISHES = 255
"Of a subscriber in one message."
LONGEST_ROUTE = 64

UNKNOWN = 0.0
"The signal before the first hop, and where radios do not tell it."

Signal = Annotated[float, Float(8, least=UNKNOWN)]
"In watts."


def weaker(one: float, other: float) -> float:
    """The weaker of two signals; one that is unknown (0 or nan) says nothing."""
    return other if other > UNKNOWN and (one == UNKNOWN or other < one) else one


class PampaEvent(
    Message, number=64, category=Category.EVENT, role=Role.CARRIES, dedup_field="publication_id"
):
    """A publication on its way to everyone, by PAMPA."""

    publication: Publication
    hops: Hops = 0


class RouteSubscription(Message, number=65, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """What a subscriber wants, on its way to everyone; those who repeat it become the route back."""

    subscriber: Node
    serial: Sequence
    "Of this renewal; begins with the incarnation, so that a subscriber which forgot it is still believed."
    wanted: Annotated[tuple[Filter, ...], ListOf(MOST_WISHES)]
    "All that it wants now; nothing, if it has withdrawn."
    weakest: Signal
    "The weakest signal at which one of the hops was heard."
    route: Annotated[tuple[Node, ...], ListOf(LONGEST_ROUTE)] = ()
    "Who has repeated it, in order; the last is the speaker."

    def inconsistency(self) -> str | None:
        """A route that comes back to a node."""
        nodes = (self.subscriber, *self.route)
        return None if len(set(nodes)) == len(nodes) else "its route goes through a node twice"


class Job(NamedTuple):
    """The recipients that one neighbour is to bring a publication to."""

    addressee: Node
    delay_index: Annotated[int, Int(2, most=MOST_RECIPIENTS)]
    "Its turn among those who are addressed together."
    recipients: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS, least=1)]


class RoutedEvent(Message, number=66, category=Category.EVENT, role=Role.CARRIES):
    """A publication on its way along source routes, with a job for each next hop."""

    publication: Publication
    weakest: Signal = UNKNOWN
    "The weakest signal at which one of the hops was heard."
    jobs: Annotated[tuple[Job, ...], ListOf(MOST_RECIPIENTS)] = ()
    "None, where a recipient repeats it only to be heard."

    def inconsistency(self) -> str | None:
        """One neighbour with two jobs."""
        addressees = {job.addressee for job in self.jobs}
        return None if len(addressees) == len(self.jobs) else "it has two jobs for one neighbour"


class JobAck(Message, number=67, category=Category.CONTROL, role=Role.ACKNOWLEDGES):
    """An addressee's word that it has a job, where it has nothing to forward that could be overheard."""

    id: PublicationId
    to: Node
    "Who had sent the job."


class Rescue(Message, number=68, category=Category.EVENT, role=Role.CARRIES):
    """A publication whose route is broken, for any neighbour that knows another way to its recipients."""

    publication: Publication
    weakest: Signal
    recipients: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS, least=1)]
    avoid: Annotated[frozenset[Node], ListOf(MOST_RECIPIENTS)]
    "Nodes that the other way must not go through: the speaker, and who did not answer it."
    within: Hops
    "A longer way than this is no help."
