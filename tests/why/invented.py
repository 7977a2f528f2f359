"""Facts of small worlds, written by hand: who stood where, what was sent and what was lost."""

from itertools import pairwise

import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, MessageKind, RunManifest

KINDS = {
    "Parcel": MessageKind("event", "carries"),
    "Murmur": MessageKind("subscription", "wishes"),
    "Nod": MessageKind("control", "grants"),
    "Thanks": MessageKind("control", "acknowledges"),
}
"No router of ours says any of this: what counts is the role."

TREE = {"travel": "tree", "subscription_lease": 15.0}
NEWS = '{"news":{"topic":1}}'
SCENARIO = {
    "workload": {
        "types": {"news": {"topic": {"kind": "integer", "min": 0, "max": 9}}},
        "request": {"all": {"timeout": 5.0}},
    }
}
ADDRESSED = {"travel": "addressed"}
PATIENT = {"travel": "addressed", "promise": "until_acknowledged", "recall": 10.0}


def legs(*samples):
    """Everyone walks straight from one (time, [(x, y) of each node]) to the next, then stands to 100 s."""
    samples = [*samples, (100.0, samples[-1][1])] if samples[-1][0] < 100 else samples
    rows = [
        (node, start, end, *map(float, before[node]), *map(float, after[node]))
        for node in range(len(samples[0][1]))
        for (start, before), (end, after) in pairwise(samples)
    ]
    return table("legs", *rows)


def table(name, *rows):
    schema = TABLES[name]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        if pa.types.is_dictionary(field.type):
            arrays.append(pa.array(column, pa.string()).dictionary_encode().cast(field.type))
        else:
            arrays.append(pa.array(column, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def facts(
    places,
    *,
    sent=(),
    lost=(),
    delivered=(),
    interests=None,
    nodes=3,
    traits=None,
    states=(),
    requests=(),
    events=None,
):
    """Events of node 0, one at t=10 unless told otherwise, expected at the last node."""
    run = RunManifest(
        scenario="s", protocol="p", parameters={}, seed=1, version="0", nodes=nodes,
        duration=100.0, warmup=0.0, range=250.0, frames={}, drops={}, events_processed=0,
        kinds=KINDS, traits=traits or {}, resolved=SCENARIO | {"nodes": {"all": {"count": nodes}}},
    )  # fmt: skip
    wants = interests if interests is not None else [(0.0, nodes - 1, "/news", True)]
    events = events if events is not None else [(1, 10.0, NEWS)]
    tables = {
        "publications": table("publications", *[(e, t, 0, 512, text) for e, t, text in events]),
        "expectations": table("expectations", *[(e, nodes - 1) for e, _, _ in events]),
        "deliveries": table("deliveries", *delivered),
        "transmissions": table(
            "transmissions",
            *[
                (t, n, to, category, kind, e, 512, 1, failed, 0.004)
                for t, n, to, category, kind, e, failed in sent
            ],
        ),
        "drops": table("drops", *lost),
        "interests": table("interests", *wants),
        "requests": table("requests", *requests),
        "states": table("states", *states),
        "tables": table("tables"),
        "legs": places,
    }
    return Facts(run, tables)


LINE = [(0, 0), (200, 0), (400, 0)]
STILL = legs((0.0, LINE), (100.0, LINE))


def event(time, node, to=-1, failed=False):
    return (time, node, to, "event", "Parcel", 1, failed)


def asking(time, node, to, failed=False):
    return (time, node, to, "subscription", "Murmur", -1, failed)


def losing(time, node, peer, cause):
    return (time, node, peer, "event", "Parcel", 1, cause)


ASKED = [asking(5.0, 2, 1), asking(6.0, 1, 0)]
