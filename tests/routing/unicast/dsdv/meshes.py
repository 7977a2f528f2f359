"""Routers of DSDV with short periods."""

from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.unicast.copies import DsdvUnicast
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters

News = EventType("news", {"level": Integer()})
NEWS = News(level=5)
ALL_NEWS = Filter.everything(News)
SETTLED = 60
"Long enough for the first settling times (12 s a hop at most) to pass."


def eager(host):
    """DSDV that settles quickly, for stories about something else."""
    return DsdvUnicast(host, DsdvParameters(settling=0.1, period=5, start_jitter=1))


def winding(host):
    return DsdvUnicast(host, DsdvParameters(settling=0.1, period=5, link_feedback=False, detours=True))


def silent_links(host):
    return DsdvUnicast(host, DsdvParameters(settling=0.1, period=5, link_feedback=False))
