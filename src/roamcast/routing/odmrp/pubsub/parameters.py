"""The parameters of Pub/Sub ODMRP: those of the papers, open choices, and extensions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.units import ByteCount, Seconds

AS_PUBLISHED: dict[str, Any] = {
    "piggyback": False,
    "query_content": "event",
    "unqueried_events": "known",
    "digest": "digest",
    "combine": False,
    "omit_known_subscriptions": False,
    "reply_delay": "0 s",
    "answer_every": "0 s",
    "ack_wait": "75 ms",
    "backoff": 1.0,
    "passive_ack_tries": 1,
    "dsdv.settle_anew": True,
    "dsdv.queue_timeout": "0 s",
}
"""The papers' variant: a join request carries the digest of an event, joins are always sent in full, and each
group gets its own packet."""


class PubSubParameters(MeshParameters):
    """Parameters of Pub/Sub ODMRP."""

    ack_wait: Seconds = Field(0.3, gt=0)
    "As in ODMRP; longer, since join tables with subscriptions wait in longer queues."
    query_content: Literal["event", "batch", "advertisement"] = "advertisement"
    """Query of a join request: the event that is due, the publisher's latest events together, or its
    advertisement (section 3.6: 'advertisement' mode, which sets up routes before there is data)."""
    unqueried_events: Literal["ask", "known"] = "ask"
    """Handling of an event that no join request of the last half `timeout` queried: 'ask' sends it in a join
    request of its own, so that no subscriber is missed; 'known' sends it only to known subscribers, as
    published."""
    settling_time: Seconds = Field(0.5, ge=0)
    """Time without a join of a new broker, and since the first query, after which the subscribers of an event
    count as known. Before that, the event is handled as one without a query; without `piggyback` it waits
    instead, as `setup` defines. 0: subscribers count as known once they were queried."""
    batch: int = Field(16, ge=1, le=64)
    "Maximum number of events that a join request queries together."
    digest: Literal["smaller", "digest"] = "smaller"
    "Whether a join request without its event carries the event itself if that is shorter, or its digest."
    compare: Literal["summary", "filters"] = "summary"
    "Whether a broker matches an event against the summary of its subscriptions, or against each of them."
    grouping: Literal[
        "least", "graph", "single", "kmeans", "kmeans-average", "agglomerative", "divisive", "signature"
    ] = "kmeans"
    """Algorithm by which a publisher groups the subscriptions. 'kmeans' assigns each to the nearest centroid;
    'kmeans-average' minimises the sum of the groups' average distances to their centroids."""
    clusters: int = Field(0, ge=0, le=255)
    "Number of groups that K-means, hierarchies and signatures make; 0: the papers' K."
    combine: bool = True
    "Whether one packet carries an event for several groups; the papers send one packet to each group."
    omit_known_subscriptions: bool = True
    "Whether a join table omits subscriptions that the publisher has; the papers always send them."
    reply_delay: Seconds = Field(0.5, ge=0)
    "Maximum delay per hop of a join table without changes, for aggregation with others. Not in the papers."
    answer_every: Seconds = Field(10.0, ge=0)
    """Minimum interval between replies of a member without changes, limited to half of the timeout. 0: a
    member replies to each join request, as published."""
    spread: Seconds = Field(1.0, ge=0)
    "Maximum random delay of the first query for a new advertisement, which desynchronises publishers."
    forwarding_filter: bool = False
    "Whether a forwarding node drops an event that no downstream subscription can match."
    summary_bytes: ByteCount = Field(256, ge=64, le=1024)
    "Maximum size of a broker's subscriptions as exact filters; above it they are sent as a summary."
    table_bytes: ByteCount = Field(1400, ge=256, le=16384)
    "Maximum size of a join table; a longer one is split into several messages."
    conversion: Seconds = Field(0.0, ge=0)
    "Time that a publisher needs to convert an event into its digest; events are converted one at a time."
    clients_per_broker: int = Field(1, ge=1, le=1024)
    """Number of nodes that share a broker, which is the first of them; the others reach it by unicast. 1:
    each node is its own broker."""
    client_lease: Seconds = Field(25.0, gt=0)
    "Lease of a client's subscriptions at its broker."
    members: int = Field(1024, ge=1)
    "Maximum number of brokers whose subscriptions a publisher or relay stores; the oldest is evicted."
    roster: int = Field(64, ge=1, le=255)
    "Maximum number of group assignments in a join request; the others wait for the next."
    forwarded_joins: int = Field(4096, ge=1)
    "Maximum number of joins that a forwarding node stores for its filter; the oldest is evicted."
    dsdv: DsdvParameters = DsdvParameters()
    "Parameters of the unicast protocol between clients and brokers."
