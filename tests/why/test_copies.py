"""Causes of lost copies are true: a kind of message for each receiver shows which copy a row concerns."""

import re
import types
from collections import Counter, defaultdict

import msgspec
import pyarrow as pa
import pytest

from roamcast.facts.tables import Facts
from roamcast.routing import catalogue
from roamcast.routing.router import Category, Role
from roamcast.routing.unicast.copies import Copy
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES, Cause
from roamcast.why.explainer import Explainer
from roamcast.why.presentation.tally import tally
from roamcast.why.trail.trail import Trail

from .invented import ADDRESSED, STILL, event, facts, legs, losing, table

NODES = 100
MARKET = ["duration='14 s'", "warmup='0 s'", "quiet='2 s'"]
KINDS = [
    types.new_class(f"Copy{node}", (Copy,), {"number": 2, "category": Category.EVENT, "role": Role.EVENT})
    for node in range(NODES)
]
WAITING = "waiting"


def naming_receivers(base):
    """The router `base`, whose messages name the receiver by their kind; it behaves as `base` does."""

    class NamingReceivers(base):
        shares_process = False
        messages = (*base.messages, *KINDS)

        def publish(self, publication):
            for receiver in self.audience(publication):
                if receiver != self.host.node:
                    self.unicast.send(KINDS[receiver](publication), receiver)

    return NamingReceivers


def without_receivers(recorded):
    """The facts that `base` itself would record."""
    tables = dict(recorded.tables)
    for name in ("transmissions", "drops"):
        rows = tables[name]
        place = rows.schema.get_field_index("kind")
        kinds = [re.sub(r"^Copy\d+$", "Copy", kind) for kind in rows["kind"].to_pylist()]
        field = rows.schema.field(place)
        tables[name] = rows.set_column(place, field, pa.array(kinds).dictionary_encode().cast(field.type))
    kinds = {re.sub(r"^Copy\d+$", "Copy", kind): about for kind, about in recorded.run.kinds.items()}
    return Facts(msgspec.structs.replace(recorded.run, kinds=kinds), tables)


def true_ends(recorded):
    """For each event and receiver the reason in the last row of its copy; WAITING if no drop ended it."""
    rows = defaultdict(list)
    for name, reason in (("transmissions", None), ("drops", "cause")):
        for row in recorded[name].to_pylist():
            receiver = re.fullmatch(r"Copy(\d+)", row["kind"])
            if receiver and (reason is None or row[reason] not in FRAME_LOSSES):
                ended = row[reason] if reason else WAITING
                rows[row["publication"], int(receiver[1])].append((row["time"], ended))
    return {copy: max(found)[1] for copy, found in rows.items()}


@pytest.mark.parametrize("protocol", ["aodv-unicast", "gpsr-unicast"])
def test_every_cause_of_a_lost_copy_is_the_one_of_its_own_rows(protocol):
    catalogue.add("naming-receivers", naming_receivers(catalogue.find(protocol)))
    try:
        recorded = simulate(load(locate("cd-market"), MARKET), "naming-receivers", 5)
    finally:
        catalogue.remove("naming-receivers")
    ends = true_ends(recorded)
    trail = Trail(without_receivers(recorded))
    explainer, causes = Explainer(trail), Counter()
    for publication, node in trail.misses():
        verdict = explainer.explain(publication, node)
        causes[verdict.cause] += 1
        if verdict.proven:
            continue
        end = ends.get((publication, node), WAITING)
        if end == WAITING:
            assert verdict.cause in (Cause.OVERLOADED, Cause.UNFINISHED), (publication, node)
        elif verdict.cause is Cause.OVERLOADED:
            assert end == "queue_full", (publication, node)
        else:
            assert verdict.cause is DROP_CAUSES[end], (publication, node)
    assert causes[Cause.QUEUE_FULL] + causes[Cause.OVERLOADED] > 50


def test_a_copy_that_no_row_ends_is_not_blamed_on_the_full_queue_of_another():
    four = legs((0.0, [(0, 0), (200, 0), (400, 0), (400, 100)]))
    sent = [event(10.1, 0, 1), event(10.2, 0, 1)]
    full = [losing(10.3, 1, 2, "queue_full")]
    found = facts(four, sent=sent, lost=full, nodes=4, traits=ADDRESSED)
    found.tables["expectations"] = table("expectations", (1, 2), (1, 3))
    assert {each.cause for each in tally(found).events.causes} == {"overloaded"}
    crashed = [(12.0, 1, "up", 0.0), (30.0, 1, "up", 1.0), (30.0, 1, "incarnation", 1.0)]
    found = facts(four, sent=sent, lost=full, nodes=4, traits=ADDRESSED, states=crashed)
    found.tables["expectations"] = table("expectations", (1, 2), (1, 3))
    assert "overloaded" not in {each.cause for each in tally(found).events.causes}


def test_a_router_that_names_the_destination_outweighs_a_link_that_names_the_next_hop():
    sent = [event(10.1, 0, 1), event(10.2, 0, 1)]
    lost = [losing(10.2, 1, 2, "no_route"), losing(10.3, 0, 2, "queue_full")]
    found = facts(STILL, sent=sent, lost=lost, traits=ADDRESSED)
    found.tables["expectations"] = table("expectations", (1, 1), (1, 2))
    assert {each.node: each.cause for each in tally(found).events.causes}[2] == "no_route"
