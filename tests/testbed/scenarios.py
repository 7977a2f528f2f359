"""Small scenarios for the testbed."""

from roamcast.scenario.model import Scenario

LINE = {
    "name": "line",
    "area": {"width": 700, "height": 100},
    "duration": 4,
    "nodes": {"line": {"count": 3, "at": [[100, 50], [300, 50], [500, 50]]}},
    "workload": {
        "types": {"alert": {"level": "integer"}},
        "schedule": None,
        "publish": {
            "line": {
                "count": 1,
                "every": 0.4,
                "phase": 1,
                "size": 200,
                "content": {"type": "alert", "values": {"level": [3, 4]}},
            }
        },
        "subscribe": {"line": {"count": 3, "interest": ["/alert[level > 2]"]}},
    },
    "quiet": 1,
}


def line(**changes):
    return Scenario.model_validate(LINE | changes)
