"""ODMRP: join requests flooded on demand, join tables as replies, data repeated by the forwarding group."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.odmrp.channels import EVERYONE, Channels, ChannelSource, channel_of
from roamcast.routing.odmrp.forwarding_group import ForwardingGroup
from roamcast.routing.odmrp.join import JoinReplies, Upstream, UpstreamRoute
from roamcast.routing.odmrp.mesh_router import MeshRouter
from roamcast.routing.odmrp.messages import (
    MOST_ENTRIES,
    MOST_FILTERS,
    Announcement,
    ChannelData,
    JoinData,
    JoinEntry,
    JoinRequest,
    JoinTable,
)
from roamcast.routing.odmrp.parameters import OdmrpParameters
from roamcast.routing.router import (
    DUPLICATE,
    NOT_MINE,
    Drop,
    Footprint,
    Host,
    NodeId,
    Parameters,
    Publication,
    Timer,
)
from roamcast.routing.state.timing import call_every, call_within


class Odmrp(MeshRouter):
    """ODMRP with one multicast channel per distinct subscription, or one channel for all subscribers."""

    shares_process = True
    main_parameters = ("refresh", "timeout", "prediction", "piggyback", "channels")
    parameters_type = OdmrpParameters
    parameters: OdmrpParameters
    as_published: ClassVar[Mapping[str, Any]] = MappingProxyType({"backoff": 1.0, "passive_ack_tries": 1})
    live: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"refresh": "1 s", "timeout": "4 s", "announce": "1 s"}
    )
    messages = (JoinRequest, JoinData, JoinTable, ChannelData, Announcement)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.group: ForwardingGroup[int] = ForwardingGroup(host, p.timeout, p.groups)
        self.upstream: Upstream[tuple[int, NodeId]] = Upstream(host, p)
        "Reverse paths by channel and source."
        self.replies = JoinReplies(host, p, self.upstream.route, self._send_join_tables)
        self.channels = Channels(2.5 * p.announce, p.known)
        self.own: dict[int, int] = {}
        "Number of this node's interests per channel."
        self._sending: dict[int, ChannelSource] = {}
        "The channels on which this node is a source, most recently used last."
        self._soon: Timer | None = None
        self._acknowledging: set[int] = set()
        self._handlers = {
            ChannelData: self._handle_data,
            JoinData: self._handle_event_request,
            JoinRequest: self._handle_request,
            JoinTable: self._handle_join_table,
            Announcement: self._handle_announcement,
        }

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        p = self.parameters
        return {
            "routes": self.upstream.footprint(16),
            "answers": self.replies.footprint(16),
            "forwarding_group": self.group.footprint(8),
            "channels": self.channels.footprint(),
            "sources": Footprint(len(self._sending), 8 * len(self._sending), p.groups),
            **super().tables(),
        }

    # Calls of the application.

    def start(self) -> None:
        """Start the periodic announcements of this node's channels."""
        if self.parameters.channels == "each":
            call_every(self.host, self.parameters.announce, self._announce)

    def subscribe(self, filter: Filter) -> None:
        """Join the channel of a subscription, and announce it after a short random delay."""
        super().subscribe(filter)
        channel = channel_of(filter)
        self.own[channel] = self.own.get(channel, 0) + 1
        self._announce_soon()

    def unsubscribe(self, filter: Filter) -> None:
        """Leave the channel of a subscription; no message is sent, and the state at other nodes expires."""
        if filter in self.interests:
            channel = channel_of(filter)
            self.own[channel] -= 1
            if not self.own[channel]:
                del self.own[channel]
        super().unsubscribe(filter)

    def publish(self, publication: Publication) -> None:
        """Send an event on every channel whose subscription matches it."""
        self.delivered.add(publication.id)
        channels = [EVERYONE]
        if self.parameters.channels == "each":
            channels = self.channels.matching(publication.event, self.host.now())
        for channel in channels:
            self._send(channel, publication)
        if not channels:
            nowhere = ChannelData(self.host.node, self._numbers.take(), EVERYONE, publication)
            self.host.drop(nowhere, Drop.UNWANTED)

    # Messages from neighbours.

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the handler of its class."""
        if sender == self.host.node:
            return Drop.MALFORMED
        return self._handlers[type(message)](message, sender)

    def _handle_data(self, message: ChannelData, sender: NodeId) -> Drop | None:
        if not self._is_new(message.source, message.packet):
            return DUPLICATE
        outcome = self._deliver(message.publication)
        now, channel = self.host.now(), message.channel
        if outcome is Drop.UNWANTED and (channel in self.own or (channel == EVERYONE and self.own)):
            self.noise.increment()
        if self.group.forwards(channel, now):
            self._repeat(message)
            return None
        return Drop.EXPIRED if outcome is Drop.UNWANTED and self.group.expired(channel, now) else outcome

    def _handle_join_table(self, message: JoinTable, sender: NodeId) -> Drop | None:
        me, channel = self.host.node, message.channel
        mine = False
        for source, next_hop in message.entries:
            self.replies.overhear(sender, (channel, source))
            if next_hop != me:
                continue
            mine = True
            if source == me:
                self._hear_members(channel, message.lifetime)
            elif self.upstream.route((channel, source)) is not None:
                self.group.join(channel)
                self.replies.pass_on((channel, source))
        return None if mine else NOT_MINE

    def _handle_announcement(self, message: Announcement, sender: NodeId) -> Drop | None:
        if not self._is_new(message.origin, message.packet):
            return DUPLICATE
        self.channels.hear(message, self.host.now())
        return self._flood_on(message)

    # Join requests.

    def _learn(self, message: JoinRequest | JoinData, sender: NodeId, lifetime: int | None) -> None:
        """Store the previous hop of a join request, and reply to the request if this node is a member."""
        key = (message.channel, message.source)
        self.upstream.learn(key, sender, message.sequence, lifetime)
        if self.own if message.channel == EVERYONE else message.channel in self.own:
            self.replies.answer(key)

    def _send(self, channel: int, publication: Publication) -> None:
        """Send an event on a channel, preceded by or carried in a join request if one is due."""
        now, me, p = self.host.now(), self.host.node, self.parameters
        sending = self._sending.pop(channel, None) or ChannelSource(p)
        self._sending[channel] = sending
        due = sending.is_due(now)
        if due:
            sending.flood(now)
            self._forget_channels(now)
        if due and p.piggyback:
            self._originate(JoinData(me, self._numbers.take(), 0, channel, publication, self.expiry.motion()))
            return
        wait = 0.0 if p.piggyback else sending.wait(now)
        if due:
            self._originate(JoinRequest(me, self._numbers.take(), 0, channel, self.expiry.motion()))
            wait = p.round_trip
        if wait:
            self.host.call_later(wait, self._send_data, channel, publication)
        else:
            self._send_data(channel, publication)

    def _forget_channels(self, now: float) -> None:
        """Remove the channels that were idle for `timeout`, and record the number of channels in use."""
        in_use, since = self._sending, now - self.parameters.timeout
        for channel in [c for c, sending in in_use.items() if sending.flooded_at < since]:
            del in_use[channel]
        while len(in_use) > self.parameters.groups:
            del in_use[next(iter(in_use))]
        self.in_use.set(len(in_use))

    def _send_data(self, channel: int, publication: Publication) -> None:
        self._originate(ChannelData(self.host.node, self._numbers.take(), channel, publication), (channel,))

    # Join tables.

    def _send_join_tables(self, items: list[tuple[tuple[int, NodeId], UpstreamRoute]]) -> None:
        """Send one join table per channel, or several if the entries need more than one message."""
        tables: dict[int, list[JoinEntry]] = {}
        lifetimes: dict[int, int] = {}
        for (channel, source), route in items:
            tables.setdefault(channel, []).append(JoinEntry(source, route.neighbour))
            if route.lifetime is not None:
                lifetimes[channel] = min(route.lifetime, lifetimes.get(channel, route.lifetime))
        for channel, entries in tables.items():
            lifetime = (lifetimes[channel],) if channel in lifetimes else ()
            for first in range(0, len(entries), MOST_ENTRIES):
                self.host.broadcast(
                    JoinTable(channel, tuple(entries[first : first + MOST_ENTRIES]), lifetime)
                )

    def _hear_members(self, channel: int, lifetime: tuple[int, ...]) -> None:
        """Record, as the source, that a join table arrived, and schedule its acknowledgement."""
        if channel in self._sending and channel not in self._acknowledging:
            self._sending[channel].hear(lifetime, self.host.now())
            self._acknowledging.add(channel)
            call_within(self.host, self.parameters.reply_jitter, self._acknowledge, channel)

    def _acknowledge(self, channel: int) -> None:
        self._acknowledging.discard(channel)
        self.host.broadcast(JoinTable(channel, (JoinEntry(self.host.node, self.host.node),)))

    # Channels.

    def _announce_soon(self) -> None:
        if self.parameters.channels == "each" and (self._soon is None or not self._soon.active):
            self._soon = call_within(self.host, self.parameters.jitter, self._announce)

    def _announce(self) -> None:
        """Flood the subscriptions of this node."""
        filters = sorted(dict.fromkeys(self.interests), key=Filter.to_bytes)
        for part, first in enumerate(range(0, min(len(filters), 255 * MOST_FILTERS), MOST_FILTERS)):
            some = tuple(filters[first : first + MOST_FILTERS])
            self._originate(Announcement(self.host.node, self._numbers.take(), 0, part, some))

    def _deliver(self, publication: Publication) -> Drop | None:
        """Deliver a publication that matches the interests, once; otherwise return the reason of the drop."""
        if not self.matches(publication.event) or publication.publisher == self.host.node:
            return Drop.UNWANTED
        if not self.delivered.add(publication.id):
            return DUPLICATE
        self.host.deliver(publication)
        return None
