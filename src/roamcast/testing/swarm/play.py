"""Run a history and record it: faults, healing, probe events, and the departure of all nodes.

After the faults have ended, all nodes are up, the links are perfect and the network is connected, so the
state of the protocol must become correct: stale leases expire and new information spreads hop by hop. In the
worst case each hop waits for the longest duration of the protocol (a lease, a period, a timeout), and forged
state lasts as long again; so `2 x nodes x longest` seconds pass before the probe events are published.
`recall` does not count, because nothing waits for it.
"""

from __future__ import annotations

import traceback
from math import inf

from roamcast.routing import catalogue
from roamcast.routing.faults import OUTAGES, Fault, FaultKind
from roamcast.routing.router import NodeId, Parameters, Router
from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.host import MeshHost
from roamcast.testing.links import LinkModel, LinkRule, delay, duplicate, full_queue, lose, partition
from roamcast.testing.swarm.applications import Applications
from roamcast.testing.swarm.history import (
    FaultStep,
    ForgeStep,
    History,
    LinkDownStep,
    LinkRuleStep,
    LinkUpStep,
    MoveStep,
    Note,
    Replay,
    Step,
)
from roamcast.testing.swarm.mutator import Mutator
from roamcast.testing.swarm.record import SwarmPublication, SwarmRecord
from roamcast.testing.swarm.recording_mesh import RecordingMesh, StormError, TimerError, TimeUpError
from roamcast.testing.swarm.settings import longest_wait

LOOK_EVERY = 5.0
"Interval between two samples of the tables [s]."
BETWEEN_PROBES = 1.0
"Interval between two probe events [s]."
LONGEST_FLOOD = 10.0
"Maximum time that the last probe event gets to arrive before mild faults begin [s]."


def play_twice(history: History, router: type[Router] | None = None, *, deadline: float = inf) -> SwarmRecord:
    """Run a history twice and return the record, with the second one in `second`.

    After a storm or endless timers there is no second run. Raise `TimeUpError` at `deadline`, a time of
    `time.monotonic` [s].
    """
    record = play(history, router, deadline=deadline)
    if not record.stormed and record.busy is None:
        record.second = play(history, router, deadline=deadline)
    return record


def play(history: History, router: type[Router] | None = None, *, deadline: float = inf) -> SwarmRecord:
    """Run a history and return its record; `router` is needed if the catalogue lacks the protocol."""
    router = router or catalogue.find(history.protocol)
    parameters = router.parameters_type.model_validate(history.parameters)
    record = SwarmRecord(history, router.traits(parameters), getattr(parameters, "advert_serials", True))
    try:
        _HistoryRun(record, router, parameters, deadline).run()
    except StormError:
        record.stormed = True
    except TimeUpError:
        raise
    except TimerError:
        pass  # recorded as `busy`
    except Exception:
        record.error = traceback.format_exc()
    return record


class _HistoryRun:
    def __init__(
        self, record: SwarmRecord, router: type[Router], parameters: Parameters, deadline: float
    ) -> None:
        self.record = record
        self.history = history = record.history
        self.longest = record.longest = longest_wait(parameters, but=record.traits.recall)
        self.kinds = {kind.number: kind for kind in router.messages}
        self.applications = Applications(record)

        def make(host: MeshHost) -> Router:
            return router(host, parameters)

        self.mesh = self.applications.mesh = RecordingMesh(
            record,
            make,
            self.applications.on_delivery,
            deadline,
            clocks=dict(enumerate(history.clocks)),
            links=history.links,
            faults=[Fault(inf, node, FaultKind.ARRIVE) for node in _late_nodes(history)],
            seed=history.seed,
        )
        self.mesh.add_event_type(Note)
        self.mutator = Mutator(record, self.mesh)
        self.placed: set[NodeId] = set()

    def run(self) -> None:
        mesh, nodes = self.mesh, self.history.nodes
        for step in self.history.steps:
            mesh.call_at(step.at, self.act, step)
        mesh.call_at(0.0, self.sample_tables)
        mesh.run(for_=self.history.end)
        self.heal()
        mesh.run(for_=2 * nodes * self.longest)
        self.record.settled_at = mesh.now
        self.record.probes += self.probe()
        if self.history.later:
            mesh.run(for_=min(nodes * self.longest, LONGEST_FLOOD))
            self.record.later_at = mesh.now
            for step in self.history.later:
                mesh.call_at(mesh.now + step.at, self.apply_rule, step)
            self.record.published += self.probe()
        patient = self.record.traits.promise is DeliveryGuarantee.UNTIL_ACKNOWLEDGED
        mesh.run(for_=(6 if patient else 2) * self.longest)
        mesh.sample_tables()
        self.record.left_at = mesh.now
        for node in range(nodes):
            mesh.inject_fault(node, FaultKind.CRASH)
        mesh.run(for_=60 + 3 * self.longest)

    def sample_tables(self) -> None:
        """Sample the tables now and every `LOOK_EVERY` seconds."""
        self.mesh.sample_tables()
        if self.record.left_at == inf:
            self.mesh.call_at(self.mesh.now + LOOK_EVERY, self.sample_tables)

    def act(self, step: Step) -> None:
        """Execute a step."""
        mesh = self.mesh
        if isinstance(step, FaultStep):
            self.inject_fault(step.node, step.kind)
        elif isinstance(step, LinkRuleStep):
            self.apply_rule(step)
        elif isinstance(step, ForgeStep):
            mesh.inject(step.to, bytes.fromhex(step.data), step.sender)
            mesh.sample_tables()
        elif isinstance(step, Replay):
            self.mutator.replay(step)
        elif isinstance(step, MoveStep):
            self.placed.add(step.node)
            mesh.place(step.node, step.x, step.y, vx=step.vx, vy=step.vy)
        elif isinstance(step, LinkUpStep):
            mesh.join(step.a, step.b)
        elif isinstance(step, LinkDownStep):
            mesh.cut(step.a, step.b)
        else:
            self.applications.act(step)

    def inject_fault(self, node: NodeId, what: FaultKind) -> None:
        """Inject a fault at a node, and resume its application if the node became awake."""
        mesh = self.mesh
        was_up, was_awake = mesh.is_up(node), mesh.is_awake(node)
        if what in (FaultKind.START, FaultKind.ARRIVE):
            # A shrunk history may lack steps: a node that was up before restarts, otherwise it arrives.
            what = (
                FaultKind.START
                if any(life.node == node for life in self.record.incarnations)
                else FaultKind.ARRIVE
            )
        mesh.inject_fault(node, what)
        if mesh.is_awake(node) and not was_awake:
            self.applications.resume(node, anew=not was_up)

    def apply_rule(self, step: LinkRuleStep) -> None:
        """Apply the rule of a step to links until the step ends."""
        sorts = [self.kinds[kind] for kind in step.kinds if kind in self.kinds]
        if step.kinds and not sorts:
            return
        about = {"from_": step.senders, "to": step.receivers, "share": step.share}
        if step.rule == "lose":
            rule = lose(*sorts, **about)  # type: ignore[arg-type]
        elif step.rule == "duplicate":
            rule = duplicate(*sorts, after=step.seconds, **about)  # type: ignore[arg-type]
        elif step.rule == "delay":
            rule = delay(*sorts, jitter=step.seconds, **about)  # type: ignore[arg-type]
        elif step.rule == "full_queue":
            rule = full_queue(step.senders, *sorts, share=step.share)
        else:
            rule = partition(step.senders or ())
        self.mesh.rules.append(rule)
        self.mesh.call_at(self.mesh.now + step.until - step.at, self.remove_rule, rule)

    def remove_rule(self, rule: LinkRule) -> None:
        """Remove a rule from the links, if it is still there."""
        if rule in self.mesh.rules:
            self.mesh.rules.remove(rule)

    def heal(self) -> None:
        """End all faults: all nodes are up, the links are perfect, the network is connected."""
        mesh = self.mesh
        mesh.rules.clear()
        mesh.links = LinkModel()
        for node in sorted(self.placed):
            mesh.place(node, *mesh.position(node))
        for a in range(self.history.nodes):
            for b in range(a):
                mesh.cut(a, b)
        for a, b in self.history.healed:
            mesh.join(a, b)
        for node in range(self.history.nodes):
            for ending in OUTAGES.values():
                self.inject_fault(node, ending)

    def probe(self) -> list[SwarmPublication]:
        """Publish an event in each advertised zone of each node, and return the publications."""
        published = []
        for node, advertised in sorted(self.applications.advertised.items()):
            for zone in sorted({zone for first, last in advertised for zone in range(first, last + 1)}):
                published.append(self.applications.publish(node, zone))
                self.mesh.run(for_=BETWEEN_PROBES)
        return published


def _late_nodes(history: History) -> list[NodeId]:
    """Return the nodes that are absent at the start."""
    first: dict[NodeId, FaultKind] = {}
    for step in history.steps:
        if isinstance(step, FaultStep):
            first.setdefault(step.node, step.kind)
    return [node for node, what in first.items() if what is FaultKind.ARRIVE]
