"""The messages of Pub/Sub ODMRP: join requests with queries, join tables with summaries, and events."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest
from roamcast.routing.odmrp.messages import PACKET, Lifetimes, Motions
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.blobs import Blob, FilterField
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import FieldCodec, GenerationContext
from roamcast.wire.fields import Hops, Int, ListOf, Node, Serial

MOST_QUERIES = 64
MOST_FILTERS = 64
MOST_GROUPS = 255
LONGEST_DIGEST = 4096


class ContentQuery(FieldCodec):
    """Wire codec of the query of a join request: an event, the digest of an event, or a filter."""

    _event, _digest = Blob(LONGEST_DIGEST), Blob(LONGEST_DIGEST)
    _pattern = FilterField()

    def length(self, value: Any) -> int:
        """Return the length [B]: one byte for the type of the query, and its content."""
        if isinstance(value, Filter):
            return 1 + self._pattern.length(value)
        return 3 + len(encode_event(value) if isinstance(value, Event) else value.to_bytes())

    def write(self, out: bytearray, value: Any) -> None:
        """Write 0 and an event, 1 and a digest, or 2 and a filter."""
        try:
            if isinstance(value, Event):
                out.append(0)
                self._event.write(out, encode_event(value))
            elif isinstance(value, EventDigest):
                out.append(1)
                self._digest.write(out, value.to_bytes())
            else:
                out.append(2)
                self._pattern.write(out, value)
        except ContentError as error:
            raise WireError(str(error)) from None

    def read(self, octets: ByteReader) -> Event | EventDigest | Filter:
        """Read an event, a digest or a filter."""
        which = octets.integer(1)
        try:
            if which == 0:
                return decode_event(self._event.read(octets), octets.types)
            if which == 1:
                return EventDigest.from_bytes(self._digest.read(octets))
        except ContentError as error:
            raise WireError(str(error)) from None
        if which == 2:
            return self._pattern.read(octets)
        raise WireError(f"query type {which}: expected 0 (event), 1 (digest) or 2 (filter)")

    def generate(self, about: GenerationContext) -> Event | EventDigest | Filter:
        """Generate an event, a digest or a filter from the context."""
        which = about.random.randrange(3)
        if which == 2:
            return self._pattern.generate(about)
        event = about.random.choice(about.publications).event
        return event if which == 0 else EventDigest.of(event)

    def describe(self) -> str:
        """Describe the encoding for the reference page."""
        return "1 B, and an event, a digest or a filter with its length in 2 B"


Query = Annotated[Any, ContentQuery()]
Queries = Annotated[tuple[Query, ...], ListOf(MOST_QUERIES)]
Group = Annotated[int, Int(2)]
"Number of a group of a publisher; 0 is the group of members without an assignment."
Version = Annotated[int, Int(2)]
"Counts the changes of a broker's subscriptions, modulo 65536."


class GroupJoin(NamedTuple):
    """A broker's membership in a group, with the version of its subscriptions."""

    broker: Node
    group: Group
    version: Version


class SourceJoins(NamedTuple):
    """A source, the sender's next hop to it (the source enters its own id), and the joins sent that way."""

    source: Node
    next_hop: Node
    joins: Annotated[tuple[GroupJoin, ...], ListOf(255)]


class BrokerSubscriptions(NamedTuple):
    """The subscriptions of a broker, as exact filters or as a summary."""

    broker: Node
    version: Version
    filters: Annotated[tuple[Filter, ...], ListOf(MOST_FILTERS)]
    summary: Annotated[bytes, Blob(1024)]


class ContentRequest(
    Message, number=77, category=Category.ROUTING, role=Role.ADVERTISEMENT, dedup_field="packet"
):
    """A join request: a publisher searches for subscribers to the events that the queries describe."""

    source: Node
    sequence: Serial
    hops: Hops
    queries: Queries
    roster: Annotated[tuple[GroupJoin, ...], ListOf(255)] = ()
    "Group assignments that the brokers have not adopted yet."
    motion: Motions = ()

    packet = PACKET


class EventRequest(Message, number=78, category=Category.EVENT, role=Role.EVENT, dedup_field="packet"):
    """A join request that carries an event; the event is a query, too, and is not repeated in `queries`."""

    source: Node
    sequence: Serial
    hops: Hops
    publication: Publication
    queries: Queries = ()
    roster: Annotated[tuple[GroupJoin, ...], ListOf(255)] = ()
    motion: Motions = ()

    packet = PACKET


class SummaryTable(Message, number=79, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A join table: joins of groups, by source, and the subscriptions of the joining brokers."""

    sources: Annotated[tuple[SourceJoins, ...], ListOf(255, least=1)]
    subscriptions: Annotated[tuple[BrokerSubscriptions, ...], ListOf(255)] = ()
    lifetime: Lifetimes = ()


class GroupEvent(Message, number=80, category=Category.EVENT, role=Role.EVENT, dedup_field="packet"):
    """An event for some groups of a source."""

    source: Node
    sequence: Serial
    groups: Annotated[frozenset[Group], ListOf(MOST_GROUPS, least=1)]
    publication: Publication

    packet = PACKET


class ClientWish(Message, number=81, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """The subscriptions of a client, sent to its broker."""

    filters: Annotated[tuple[Filter, ...], ListOf(255)]


class ClientEvent(Message, number=82, category=Category.EVENT, role=Role.EVENT):
    """An event that a client sends to its broker for publication, or a broker to its client."""

    publication: Publication
