"""What can be said of Pub/Sub ODMRP: what the papers name, what they leave open, and what is ours."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.units import ByteCount, Seconds

AS_PUBLISHED: dict[str, Any] = {
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
"What the papers have: the event asks, all is told each time, and each group is sent a packet of its own."


class PubSubParameters(MeshParameters):
    """What can be said of Pub/Sub ODMRP."""

    ack_wait: Seconds = Field(0.3, gt=0)
    "As in ODMRP; longer, since a join table that carries subscriptions waits in busier queues."
    query_content: Literal["event", "batch", "advertisement"] = "advertisement"
    """What a join request asks about: the event that is due, the publisher's latest events together, or its
    advertisement (section 3.6: 'advertisement' mode, which lays the routes before there is data)."""
    unqueried_events: Literal["ask", "known"] = "ask"
    """An event that no join request of the last `timeout` asked about: it travels in one of its own, so that
    nobody is missed; or it goes only to those who are known to want it, as the papers have it."""
    settling_time: Seconds = Field(0.5, ge=0)
    """While brokers that were not known keep answering, one in the last so long, and so long after they were
    first asked, not all are known who want an event: it travels as one that nobody was asked about (without
    `piggyback` it waits, for as long as `setup` says). 0: whoever was asked is known."""
    batch: int = Field(16, ge=1, le=64)
    "Events that a join request asks about together."
    digest: Literal["smaller", "digest"] = "smaller"
    "Whether a join request without its event tells the event itself where that is shorter, or its digest."
    compare: Literal["summary", "filters"] = "summary"
    "Whether a broker compares an event with the summary of its subscriptions, or with each of them."
    grouping: Literal["least", "graph", "kmeans", "agglomerative", "divisive", "signature"] = "kmeans"
    "How a publisher makes groups of the subscriptions that it knows."
    clusters: int = Field(0, ge=0, le=255)
    "How many groups K-means, hierarchies and signatures make; 0: the papers' K."
    combine: bool = True
    "Whether an event for several groups is one packet that names them all; the papers send one to each."
    omit_known_subscriptions: bool = True
    "Whether a join table leaves out subscriptions that the publisher knows; the papers always send them."
    reply_delay: Seconds = Field(0.5, ge=0)
    "A join table with nothing new waits up to this long at each hop, to go with others. Not in the papers."
    answer_every: Seconds = Field(10.0, ge=0)
    """A member with nothing new to tell answers again only after so long, at most half of the timeout. 0:
    always, as in the papers."""
    spread: Seconds = Field(1.0, ge=0)
    "A new advertisement is asked about within this time: publishers that begin together do not ask at once."
    forwarding_filter: bool = False
    "Whether a forwarding node lets an event through only if the subscriptions below it may match."
    summary_bytes: ByteCount = Field(256, ge=64, le=1024)
    "A broker's subscriptions are told one by one in up to so many bytes; beyond that, as a summary."
    table_bytes: ByteCount = Field(1400, ge=256, le=16384)
    "A join table that would be longer is sent in several messages."
    conversion: Seconds = Field(0.0, ge=0)
    "What turning an event into its digest takes the publisher, one after the other; none is sent before."
    clients_per_broker: int = Field(1, ge=1, le=1024)
    "Nodes that share a broker, the first of them; the others reach it by unicast. 1: each is its own."
    client_lease: Seconds = Field(25.0, gt=0)
    "A broker forgets a client's subscriptions after so long, unless they are told again."
    members: int = Field(1024, ge=1)
    "Brokers whose subscriptions a node remembers, as a publisher or as a relay; the oldest makes room."
    roster: int = Field(64, ge=1, le=255)
    "Assignments to groups that a join request tells at most; the others wait for the next."
    forwarded_joins: int = Field(4096, ge=1)
    "Joins that a forwarding node remembers for its filter; the oldest makes room."
    dsdv: DsdvParameters = DsdvParameters()
    "The unicast protocol between clients and brokers."
