"""What Pub/Sub ODMRP says: questions by content, summaries in answer, events for groups."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest
from roamcast.routing.odmrp.messages import Lifetimes, Motions
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.blobs import Blob, FilterField
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import FieldCodec, GenerationContext
from roamcast.wire.fields import Hops, Int, ListOf, Node, Serial

MOST_ASKS = 64
MOST_FILTERS = 64
MOST_GROUPS = 255
LONGEST_DIGEST = 4096


class ContentQuery(FieldCodec):
    """What a join request asks about: an event, the digest of one, or a filter that holds several."""

    _event, _digest = Blob(LONGEST_DIGEST), Blob(LONGEST_DIGEST)
    _pattern = FilterField()

    def length(self, value: Any) -> int:
        """A byte that says which, and its own."""
        if isinstance(value, Filter):
            return 1 + self._pattern.length(value)
        return 3 + len(encode_event(value) if isinstance(value, Event) else value.to_bytes())

    def write(self, out: bytearray, value: Any) -> None:
        """0 and an event, 1 and a digest, or 2 and a filter."""
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
        """One of the three."""
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
        raise WireError(f"{which} is neither an event nor a digest nor a filter")

    def generate(self, about: GenerationContext) -> Event | EventDigest | Filter:
        """One of the three, of what is about."""
        which = about.random.randrange(3)
        if which == 2:
            return self._pattern.generate(about)
        event = about.random.choice(about.publications).event
        return event if which == 0 else EventDigest.of(event)

    def describe(self) -> str:
        """One of the three."""
        return "1 B, and an event, a digest or a filter with its length in 2 B"


Question = Annotated[Any, ContentQuery()]
Questions = Annotated[tuple[Question, ...], ListOf(MOST_ASKS)]
Group = Annotated[int, Int(2)]
"A publisher's number for a group; 0 is for those who have none yet."
Version = Annotated[int, Int(2)]
"Counts the changes of a broker's subscriptions, modulo 65536."


class GroupJoin(NamedTuple):
    """A broker in a group, with the subscriptions of a version."""

    broker: Node
    group: Group
    version: Version


class SourceJoins(NamedTuple):
    """A source, over whom the speaker reaches it (the source itself names itself), and who joins by it."""

    source: Node
    next_hop: Node
    joins: Annotated[tuple[GroupJoin, ...], ListOf(255)]


class BrokerSubscriptions(NamedTuple):
    """The subscriptions of a broker: one by one, or as a summary."""

    broker: Node
    version: Version
    filters: Annotated[tuple[Filter, ...], ListOf(MOST_FILTERS)]
    summary: Annotated[bytes, Blob(1024)]


class ContentRequest(Message, number=77, category=Category.ROUTING, role=Role.OFFERS, dedup_field="packet"):
    """A join request: who may want such events?"""

    source: Node
    sequence: Serial
    hops: Hops
    asks: Questions
    roster: Annotated[tuple[GroupJoin, ...], ListOf(255)] = ()
    "Which groups brokers are to join that have not yet."
    motion: Motions = ()

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class EventRequest(Message, number=78, category=Category.EVENT, role=Role.CARRIES, dedup_field="packet"):
    """A join request with the event that was due aboard, which is asked about without being told twice."""

    source: Node
    sequence: Serial
    hops: Hops
    publication: Publication
    asks: Questions = ()
    roster: Annotated[tuple[GroupJoin, ...], ListOf(255)] = ()
    motion: Motions = ()

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class SummaryTable(Message, number=79, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """A join table: who joins which groups of which sources, and what they want."""

    ways: Annotated[tuple[SourceJoins, ...], ListOf(255, least=1)]
    wishes: Annotated[tuple[BrokerSubscriptions, ...], ListOf(255)] = ()
    lifetime: Lifetimes = ()


class GroupEvent(Message, number=80, category=Category.EVENT, role=Role.CARRIES, dedup_field="packet"):
    """An event for some groups of a source."""

    source: Node
    sequence: Serial
    groups: Annotated[frozenset[Group], ListOf(MOST_GROUPS, least=1)]
    publication: Publication

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class ClientWish(Message, number=81, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """What a client wants, for its broker."""

    filters: Annotated[tuple[Filter, ...], ListOf(255)]


class ClientEvent(Message, number=82, category=Category.EVENT, role=Role.CARRIES):
    """An event from a client for its broker to publish, or from a broker for its client."""

    publication: Publication
