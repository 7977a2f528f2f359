"""Retransmission of jobs: an addressee that is not overheard is tried again, up to `retries` times."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.routing.router import Drop, Footprint, Host, NodeId, Publication, Timer
from roamcast.routing.tpsr.messages import Job, RoutedEvent, weaker
from roamcast.routing.tpsr.parameters import TpsrParameters


class PendingJobs:
    """The jobs of one publication that are not yet acknowledged."""

    __slots__ = ("jobs", "left", "publication", "timer", "weakest")

    def __init__(self, publication: Publication, weakest: float) -> None:
        self.publication = publication
        self.weakest = weakest
        self.jobs: dict[NodeId, frozenset[NodeId]] = {}
        "Addressee -> recipients."
        self.left = 0
        "Number of retransmissions left."
        self.timer: Timer | None = None

    def message(self) -> RoutedEvent:
        """Return the message that retransmits the jobs."""
        jobs = (Job(addressee, n, those) for n, (addressee, those) in enumerate(self.jobs.items()))
        return RoutedEvent(self.publication, self.weakest, tuple(jobs))


class JobRetries:
    """Jobs that this node has sent and that are not acknowledged; calls `abandon` after the last retry."""

    def __init__(
        self,
        host: Host,
        parameters: TpsrParameters,
        abandon: Callable[[PendingJobs], None],
        observe: Callable[[bool], None],
    ) -> None:
        """Call `observe` for each job with whether it had to be retransmitted."""
        self._host = host
        self._parameters = parameters
        self._abandon = abandon
        self._observe = observe
        self._waiting: dict[int, PendingJobs] = {}

    def watch(self, publication: Publication, weakest: float, jobs: Iterable[Job]) -> None:
        """Start to wait for the addressees' acknowledgements."""
        trusting = self._parameters.last_hop == "none"
        expected = {
            job.addressee: job.recipients
            for job in jobs
            if not (trusting and job.recipients == {job.addressee})
        }
        if not expected:
            return
        attempt = self._waiting.get(publication.id)
        if attempt is None:
            if len(self._waiting) >= self._parameters.pending_jobs:
                oldest = self.forget(next(iter(self._waiting)))
                if oldest is not None:
                    self._host.drop(oldest.message(), Drop.TABLE_FULL)
            attempt = self._waiting[publication.id] = PendingJobs(publication, weakest)
        attempt.weakest = weaker(attempt.weakest, weakest)
        for addressee, recipients in expected.items():
            attempt.jobs[addressee] = attempt.jobs.get(addressee, frozenset()) | recipients
        attempt.left = self._parameters.retries
        self._wait(attempt)

    def overhear(self, message: RoutedEvent, sender: NodeId) -> None:
        """Treat an overheard forwarding as an acknowledgement, if it covers all recipients of the job."""
        attempt = self._waiting.get(message.publication.id)
        if attempt is None:
            return
        recipients = attempt.jobs.get(sender)
        if recipients is None:
            return
        if message.jobs:
            served = {sender}.union(*(job.recipients for job in message.jobs))
            if not recipients <= served:
                return
        self._done(attempt, sender)

    def hear(self, publication: int, sender: NodeId) -> None:
        """Process an explicit acknowledgement of a job."""
        attempt = self._waiting.get(publication)
        if attempt is not None and sender in attempt.jobs:
            self._done(attempt, sender)

    def forget(self, publication: int) -> PendingJobs | None:
        """Stop waiting for a publication's jobs; return them, or None if there are none."""
        attempt = self._waiting.pop(publication, None)
        if attempt is not None and attempt.timer is not None:
            attempt.timer.cancel()
        return attempt

    def footprint(self) -> Footprint:
        """Return the size: publication id, addressees and recipients of each entry."""
        jobs = sum(4 + 4 * len(those) for each in self._waiting.values() for those in each.jobs.values())
        return Footprint(len(self._waiting), 16 * len(self._waiting) + jobs, self._parameters.pending_jobs)

    def _done(self, attempt: PendingJobs, addressee: NodeId) -> None:
        del attempt.jobs[addressee]
        self._observe(attempt.left < self._parameters.retries)
        if not attempt.jobs:
            self.forget(attempt.publication.id)

    def _wait(self, attempt: PendingJobs) -> None:
        if attempt.timer is not None:
            attempt.timer.cancel()
        turns = self._parameters.spacing * (len(attempt.jobs) - 1)
        attempt.timer = self._host.call_later(
            self._parameters.ack_wait + turns, self._retry, attempt.publication.id
        )

    def _retry(self, publication: int) -> None:
        attempt = self._waiting[publication]
        if attempt.left == 0:
            del self._waiting[publication]
            for _ in attempt.jobs:
                self._observe(True)
            self._abandon(attempt)
            return
        attempt.left -= 1
        self._host.broadcast(attempt.message())
        self._wait(attempt)
