"""Event routing (section IV.B): a node accepts jobs, waits for its turn, and creates new jobs for its next
hops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from roamcast.routing.router import Drop, Footprint, Host, NodeId, Publication
from roamcast.routing.tpsr.accepted import AcceptedRecipients
from roamcast.routing.tpsr.jobs import create_jobs
from roamcast.routing.tpsr.messages import UNKNOWN, Job, JobAck, RoutedEvent, weaker
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.routing.tpsr.retries import JobRetries, PendingJobs
from roamcast.routing.tpsr.route_table import SubscriberTable


class PendingForward:
    """A publication that this node has accepted and will forward when its turn comes."""

    __slots__ = ("publication", "recipients", "senders", "weakest")

    def __init__(self, publication: Publication, weakest: float) -> None:
        self.publication = publication
        self.weakest = weakest
        self.recipients: set[NodeId] = set()
        self.senders: dict[NodeId, None] = {}
        "The nodes that sent it and wait for an acknowledgement."


class Forwarding:
    """Handles the jobs that are addressed to one node."""

    def __init__(
        self,
        host: Host,
        parameters: TpsrParameters,
        table: SubscriberTable,
        *,
        abandon: Callable[[PendingJobs], None],
        strand: Callable[[Publication, float, Collection[NodeId]], None],
        observe: Callable[[bool], None],
    ) -> None:
        """Call `abandon` for jobs that no addressee accepted, and `strand` for recipients without a route."""
        self._host = host
        self._parameters = parameters
        self._table = table
        self._strand = strand
        self._turns: dict[int, PendingForward] = {}
        self.taken = AcceptedRecipients(parameters.publication_limit)
        self.attempts = JobRetries(host, parameters, abandon, observe)

    def publish(self, publication: Publication, recipients: Collection[NodeId]) -> None:
        """Send an event of this node to `recipients`."""
        self.taken.accept(publication.id, recipients, self._host.node)
        turn = PendingForward(publication, UNKNOWN)
        turn.recipients.update(recipients)
        self._send(turn)

    def handle(self, message: RoutedEvent, job: Job, sender: NodeId, signal: float) -> Drop | None:
        """Accept the new recipients of a job; return DUPLICATE if there is none."""
        publication, node = message.publication, self._host.node
        fresh, back = self.taken.accept(publication.id, job.recipients, sender)
        back.discard(node)
        wait = self._parameters.spacing * job.delay_index
        if not fresh and not back:
            if publication.id not in self._turns:  # the acknowledgement was lost: repeat it
                self._host.call_later(wait, self._acknowledge, publication, message.weakest, [sender])
            return Drop.DUPLICATE
        weakest = weaker(message.weakest, signal)
        if back:  # routing tables on the path disagree: avoid a loop
            self._strand(publication, weakest, back)
        return self.charge(publication, weakest, fresh, sender, wait)

    def charge(
        self,
        publication: Publication,
        weakest: float,
        fresh: Collection[NodeId],
        sender: NodeId,
        wait: float,
    ) -> Drop | None:
        """Forward a publication to new recipients after `wait` seconds; return the drop reason, if any."""
        turn = self._turns.get(publication.id)
        if turn is None:
            if len(self._turns) >= self._parameters.pending_jobs:
                return Drop.TABLE_FULL
            turn = self._turns[publication.id] = PendingForward(publication, weakest)
            self._host.call_later(wait, self._forward_due, publication.id)
        turn.weakest = weaker(turn.weakest, weakest)
        turn.recipients.update(fresh)
        turn.recipients.discard(self._host.node)
        turn.senders[sender] = None
        return None

    def footprints(self) -> dict[str, Footprint]:
        """Return the size of each table."""
        held = sum(4 * len(turn.recipients) for turn in self._turns.values())
        return {
            "turns": Footprint(len(self._turns), 12 * len(self._turns) + held, self._parameters.pending_jobs),
            "taken": self.taken.footprint(),
            "attempts": self.attempts.footprint(),
        }

    def _forward_due(self, publication: int) -> None:
        turn = self._turns.pop(publication)
        if turn.recipients:
            self._send(turn)
        elif self._parameters.last_hop != "none":
            self._acknowledge(turn.publication, turn.weakest, turn.senders)

    def _send(self, turn: PendingForward) -> None:
        publication, node = turn.publication, self._host.node
        now = self._host.now()

        def next_hop(recipient: NodeId) -> NodeId | None:
            route = self._table.route(recipient, now)
            if route is None or route.hops[0] == self.taken.sender(publication.id, recipient):
                return None
            return route.hops[0]

        jobs, stranded = create_jobs(sorted(turn.recipients), node, next_hop)
        if jobs:
            self._host.broadcast(RoutedEvent(publication, turn.weakest, jobs))
            self.attempts.watch(publication, turn.weakest, jobs)
        if stranded:
            self._strand(publication, turn.weakest, stranded)

    def _acknowledge(self, publication: Publication, weakest: float, senders: Iterable[NodeId]) -> None:
        if self._parameters.last_hop == "ack":
            for sender in senders:
                self._host.broadcast(JobAck(publication.id, sender))
        else:
            self._host.broadcast(RoutedEvent(publication, weakest, ()))
