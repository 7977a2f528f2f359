"""All comparisons, in the order of the page. A new family is a file in `families` and a name here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from validation.families import cells, dsdv, flooding, geometry, gpsr, odmrp, pair, reactive
from validation.plan import Plan, Topic
from validation.report import Check, Section

FAMILIES = (pair, geometry, flooding, dsdv, reactive, gpsr, odmrp, cells)


def all_sections(plan: Plan, kept: Path | None = None) -> Iterable[Section]:
    """Every comparison; what `kept` has of an earlier run is not measured again."""
    for family in FAMILIES:
        for topic in family.TOPICS:
            checks = measure_topic(topic, plan, kept)
            yield Section(topic.title, topic.theirs, topic.text, checks, topic.third)


def measure_topic(topic: Topic, plan: Plan, kept: Path | None) -> list[Check]:
    """The checks of a section, measured or as they were kept."""
    file = None if kept is None else kept / f"{re.sub('[^a-z0-9]+', '-', topic.title.lower())}.json"
    if file is not None and file.exists():
        return [Check(**row) for row in json.loads(file.read_text())]
    checks = list(topic.measure(plan))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([asdict(check) for check in checks]))
    return checks
