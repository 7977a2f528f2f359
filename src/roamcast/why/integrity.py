"""Sound facts: whether tables that have the right shape also speak of the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast.facts.tables import Facts, FactsError

_TABLES_OF_NODES = (
    *("expectations", "deliveries", "transmissions", "drops"),
    *("interests", "requests", "states", "legs"),
)
_PUBLICATIONS = ("expectations", "deliveries")


def check_integrity(facts: Facts) -> None:
    """Refuse facts that name nodes or events which their run does not have, or that count expectations."""
    if (facts["expectations"]["node"].to_numpy() < 0).any():
        raise FactsError(
            "expectations: these facts have counts of the nodes that expected an event, not the nodes;"
            " repeat the run without --count-expectations"
        )
    for table in _TABLES_OF_NODES:
        nodes = facts[table]["node"].to_numpy()
        strange = nodes[(nodes < 0) | (nodes >= facts.run.nodes)]
        if len(strange):
            raise FactsError(f"{table}: there is no node {strange[0]}; the run has {facts.run.nodes}")
    known = facts["publications"]["publication"].to_numpy()
    if len(known) and (known.min() < 0 or (known >> 32).max() >= facts.run.nodes):
        raise FactsError("publications: an event's number names a publisher that the run does not have")
    for table in _PUBLICATIONS:
        _check_known(table, facts[table]["publication"].to_numpy(), known)
    answers = facts["requests"]["publication"].to_numpy()
    satisfied = np.array(
        [outcome == "satisfied" for outcome in facts["requests"]["outcome"].to_pylist()], bool
    )
    _check_known("requests", answers[satisfied], known)
    for name in ("subscription_lease", "recall"):
        value = facts.run.traits.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise FactsError(f"the trait {name} is {value!r}, which is no number of seconds")


def _check_known(table: str, named: npt.NDArray[Any], known: npt.NDArray[Any]) -> None:
    strange = named[~np.isin(named, known)]
    if len(strange):
        raise FactsError(f"{table}: event {strange[0]} was never published")
