"""The known runs: small, and each in a scenario in which its protocol has to work for what it delivers."""

from pathlib import Path
from typing import NamedTuple

import roamcast
from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.metric_input import MetricInput
from roamcast.metrics.run_metrics import metric_input

HERE = Path(__file__).parent
SEED = 11


WARMUPS = (0.0, 20.0)
"Seconds that metrics leave out; some known runs are shorter than their scenario's own."


class Known(NamedTuple):
    scenario: str
    protocol: str
    settings: tuple[str, ...] = ()

    def play(self) -> Facts:
        return roamcast.run(HERE / f"{self.scenario}.toml", self.protocol, SEED, self.settings).facts


def _hurried(protocol: str, *settings: str) -> tuple[str, ...]:
    """Two tiers that do within a minute what takes them many."""
    quick = (
        *('advertise="4 s"', 'advert_lease="12 s"', "adverts_per_construction=2", 'renew="2 s"'),
        *('subscription_lease="6 s"', 'resubscribe="4 s"', 'service_lease="10 s"', 'radius="250 m"'),
    )
    return tuple(f"protocol.{protocol}.{setting}" for setting in (*quick, *settings))


RUNS = {
    "flooding": Known("square", "flooding"),
    "cbr": Known("street", "cbr"),
    "cbr-covering": Known(
        "street",
        "cbr",
        tuple(f"protocol.cbr.{name}=true" for name in ("covering", "most_covering", "link_feedback")),
    ),
    "ft-cbr": Known("street", "ft-cbr"),
    "raft-cbr": Known("street", "raft-cbr", ('protocol.raft-cbr.ping_wait="2 s"',)),
    "odmrp": Known("street", "odmrp"),
    "p-pubs": Known("square", "p-pubs"),
    "tpsr": Known("street", "tpsr"),
    "tpsr-repairing": Known(
        "street", "tpsr", tuple(f"protocol.tpsr.{name}=true" for name in ("local_repair", "adaptive_delay"))
    ),
    "ft-cbr-as-published": Known("street", "ft-cbr", ("protocol.ft-cbr.profile=as-published",)),
    "raft-cbr-as-published": Known(
        "street", "raft-cbr", ("protocol.raft-cbr.profile=as-published", 'protocol.raft-cbr.ping_wait="2 s"')
    ),
    "pubsub-odmrp": Known("street", "pubsub-odmrp"),
    "pubsub-odmrp-published": Known(
        "street",
        "pubsub-odmrp",
        tuple(
            f"protocol.pubsub-odmrp.{setting}"
            for setting in (
                *("profile=as-published", 'grouping="graph"'),
                *("clients_per_broker=2", 'dsdv.period="5 s"', "piggyback=false"),
            )
        ),
    ),
    "dsdv-unicast": Known("relay", "dsdv-unicast"),
    "grid-cbr": Known("street", "grid-cbr", _hurried("grid-cbr", 'side="300 m"')),
    "clone": Known("street", "clone", _hurried("clone", 'reorganise="4 s"')),
    "clone-tree": Known(
        "street", "clone", _hurried("clone", 'reorganise="4 s"', 'publishing="tree"', 'vote_delay="0.3 s"')
    ),
    "aodv-unicast": Known("street", "aodv-unicast", ("protocol.aodv-unicast.error_to_all=true",)),
    "dsr-unicast": Known("street", "dsr-unicast"),
    "gpsr-unicast": Known("street", "gpsr-unicast", ('protocol.gpsr-unicast.queue_timeout="2 s"',)),
}
"By the folder that holds their facts."


def known_metrics(name: str) -> dict[str, list[float | int | None]]:
    """Every metric of a known run, for each of the warm-ups."""
    of = metric_input(Facts.read(HERE / name))
    found = [evaluate(MetricInput(of.source, of.setting._replace(warmup=warmup))) for warmup in WARMUPS]
    return {metric: [each[metric] for each in found] for metric in found[0]}
