"""All comparisons, in the order of the page. A new family is a file in `families` and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from validation.families import cells, dsdv, flooding, geometry, gpsr, odmrp, pair, reactive
from validation.plan import Plan, Topic
from validation.report import Section

FAMILIES: Mapping[str, tuple[Topic, ...]] = {
    "pair": pair.TOPICS,
    "geometry": geometry.TOPICS,
    "flooding": flooding.TOPICS,
    "dsdv": dsdv.TOPICS,
    "aodv": reactive.AODV_TOPICS,
    "dsr": reactive.DSR_TOPICS,
    "gpsr": gpsr.TOPICS,
    "odmrp": odmrp.TOPICS,
    "cells": cells.TOPICS,
}


def sections(plan: Plan, families: Iterable[str] = FAMILIES) -> Iterator[Section]:
    """The comparisons of some families, or of all."""
    for family in families:
        for topic in FAMILIES[family]:
            yield Section(topic.title, topic.theirs, topic.text, list(topic.measure(plan)), topic.third)
