"""Tables as the runs of a campaign would have written them."""

from pathlib import Path

import pyarrow as pa

from roamcast.campaign.checks import make_tables
from roamcast.campaign.plan import make_plan
from roamcast.campaign.tables import TABLES
from roamcast.metrics.declarations import METRICS

COUNT = "workload.subscribe.walkers.count"
SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
SEEDS = 6
KINDS = ["messages_event", "messages_subscription", "messages_routing", "messages_control"]


def write_tables(store, campaign, deliver=0.7):
    """Tables as if the campaign had run, in the order in which they are made."""
    plan = make_plan(campaign)
    store.write_plan(plan)
    made = make_tables(campaign, plan.places)
    values = {
        "delivery_rate": deliver,
        "delay_mean": 0.09,
        "messages_per_delivery": 4.0,
        **dict.fromkeys(KINDS, 5000.0),
    }
    used = {"wall": 1.0, "cpu": 0.9, "memory": 1 << 20, "rows": 10, "size": 100}
    rows = {"runs": [{"run": run.id, "status": "done", "error": ""} | used for run in plan.runs]}
    rows["runs"][0] |= {"status": "failed", "error": "RuntimeError: <b>fire</b>"}
    rows["metrics"] = [{"run": run.id} | dict.fromkeys(METRICS) | values for run in plan.runs]
    seeds = len(campaign.seed_list)
    rows["summary"] = [
        {"sweep": sweep, "point": point, "protocol": protocol, "metric": metric, "count": seeds, "mean": mean}
        | {"deviation": 0.1, "half": 0.02 * mean, "lower": 0.98 * mean, "upper": 1.02 * mean}
        | {"least": 0.9 * mean, "most": 1.1 * mean}
        for sweep, point, protocol in sorted({(p.sweep, p.point, p.protocol) for p in plan.places})
        for metric, mean in values.items()
    ]
    rows["differences"] = []
    rows["checks"], rows["terms"] = (made[name].to_pylist() for name in ("checks", "terms"))
    rows["verdicts"] = made["checks"].to_pylist()
    for i, check in enumerate(rows["verdicts"]):
        ours = 0.7 + 0.01 * (i % 3)
        check |= {"count": seeds, "ours": ours, "half": 0.005, "lower": ours - 0.005, "upper": ours + 0.005}
        check |= {"least": ours - 0.02, "most": ours + 0.02, "inside": ours >= check["low"]}
        decided = "held" if ours >= check["low"] else "not held"
        check["verdict"] = decided if abs(ours - check["low"]) > 0.005 else "undecided"
    for name, table in rows.items():
        store.write_table(name, pa.Table.from_pylist(table, TABLES[name]))
