"""The known runs: small, and each in a scenario in which its protocol has to work for what it delivers."""

from pathlib import Path
from typing import NamedTuple

import roamcast
from roamcast.facts.tables import Facts

HERE = Path(__file__).parent
SEED = 11


class Known(NamedTuple):
    scenario: str
    protocol: str
    settings: tuple[str, ...] = ()

    def play(self) -> Facts:
        return roamcast.run(HERE / f"{self.scenario}.toml", self.protocol, SEED, self.settings).facts


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
    "dsdv-unicast": Known("relay", "dsdv-unicast"),
    "aodv-unicast": Known("street", "aodv-unicast", ("protocol.aodv-unicast.error_to_all=true",)),
    "dsr-unicast": Known("street", "dsr-unicast"),
    "gpsr-unicast": Known("street", "gpsr-unicast", ('protocol.gpsr-unicast.hold="2 s"',)),
}
"By the folder that holds their facts."
