"""Advertising, shared by the three CBR protocols: a new advertisement is flooded once and then renewed by
periodic beacons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.cbr.adverts import AdvertRoutes, AdvertTable
from roamcast.routing.cbr.messages import UNREACHABLE, Advert
from roamcast.routing.cbr.parameters import LeaseParameters
from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, Message, NodeId, Parameters, Router
from roamcast.routing.state.serials import following, is_newer
from roamcast.routing.state.timing import call_every, call_within


class Advertising(Router):
    """Router base that leases the advertisements of its neighbours and renews its own and theirs
    periodically."""

    parameters_type: ClassVar[type[Parameters]] = LeaseParameters
    parameters: LeaseParameters

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.adverts = AdvertTable(
            p.expire, p.adverts, p.hop_limit, serials=p.advert_serials, flooded=p.flood_adverts
        )
        self.advertised: list[Filter] = []
        self.serial = 0
        self._floods_left = p.advert_floods
        # Attributes of a pydantic model or a host are slow to read, and many messages are advertisements.
        self._hop_limit, self._flood_adverts, self._node = p.hop_limit, p.flood_adverts, host.node
        self.incarnation = host.incarnation
        self.handlers: dict[type, Callable[[Any, NodeId], Drop | None]] = {Advert: self._handle_advert}

    def start(self) -> None:
        """Start periodic renewal at a random phase."""
        call_every(self.host, self.parameters.renew, self._renew)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Dispatch the message to the handler of its class."""
        handler = self.handlers.get(type(message))
        if handler is None or sender == self._node:
            return Drop.MALFORMED
        return handler(message, sender)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of the advertisement table."""
        return {"adverts": self.adverts.footprint()}

    def routes(self) -> Mapping[NodeId, NodeId]:
        """Return the neighbour nearest to each publisher, by advertisements."""
        return {each.publisher: each.routes[0].neighbour for each in self.adverts.routes(self.host.now())}

    def advertise(self, filter: Filter) -> None:
        """Broadcast an advertisement of `filter` now; it is repeated at every renewal."""
        if filter not in self.advertised:
            self.advertised.append(filter)
            if not self.serial:
                self.count_renewal()
            self.host.broadcast(Advert(self.host.node, filter, 0, self.serial, self.incarnation))

    def unadvertise(self, filter: Filter) -> None:
        """Stop renewing an advertisement."""
        if filter in self.advertised:
            self.advertised.remove(filter)

    def count_renewal(self) -> None:
        """Advance the serial, which all advertisements until the next renewal share.

        By the serial, neighbours know how many renewals an advertisement is behind.
        """
        self.serial = following(self.serial)

    def renew(self, now: float, routes: list[AdvertRoutes]) -> None:
        """Renew the soft state of the subclass; called once per period with the advertisements valid now."""

    def _renew(self) -> None:
        now = self.host.now()
        self.adverts.leases.sweep(now)
        routes = self.adverts.routes(now)
        self._floods_left = self.parameters.advert_floods
        self._beacon(routes)
        self.renew(now, routes)

    def _beacon(self, routes: Iterable[AdvertRoutes]) -> None:
        announced: list[Advert] = []
        if self.advertised:
            self.count_renewal()
        for pattern in self.advertised:
            self.host.broadcast(Advert(self.host.node, pattern, 0, self.serial, self.incarnation))
        for each in () if self.parameters.flood_adverts else routes:
            hops = each.routes[0].hops + 1
            if hops < self.parameters.hop_limit:
                advert = Advert(each.publisher, each.pattern, hops, each.serial, each.incarnation)
                self.host.broadcast(advert)
                announced.append(advert)
        for known in self.adverts.contradicted(announced):
            # The publisher does not know its newest serial: send it, so that the publisher can exceed it.
            self.host.broadcast(
                Advert(known.publisher, known.pattern, UNREACHABLE, known.serial, known.incarnation)
            )

    def _handle_advert(self, advert: Advert, sender: NodeId) -> Drop | None:
        if advert.publisher == self._node:
            # An echo. A serial above our own comes from an earlier incarnation or is forged; the next renewal
            # exceeds it.
            if is_newer(advert.serial, self.serial):
                self.serial = advert.serial
            return DUPLICATE
        now = self.host.now()
        if advert.hops >= self._hop_limit:
            if self.parameters.advert_serials:
                self.adverts.outdate(advert, now)
            return Drop.HOP_LIMIT
        news = self._flood_adverts and self.adverts.is_news(advert)
        refused, unheard_of = self.adverts.hear(advert, sender, now)
        if refused is None and (unheard_of or news):
            hops = advert.hops + 1
            if hops < self._hop_limit and self._floods_left:
                self._floods_left -= 1
                onward = Advert(advert.publisher, advert.pattern, hops, advert.serial, advert.incarnation)
                self.after_jitter(self.host.broadcast, onward)
        return refused

    def after_jitter(self, action: Callable[[Any], None], message: Message) -> None:
        """Call `action(message)` after a random delay of up to `jitter` seconds."""
        call_within(self.host, self.parameters.jitter, action, message)
