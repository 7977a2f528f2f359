"""Check that the tables of a run are consistent with each other and with the run's manifest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast.facts.tables import Facts, FactsError, RunManifest

_TABLES_OF_NODES = (
    *("expectations", "deliveries", "transmissions", "drops"),
    *("interests", "requests", "states", "legs"),
)
COUNTS_ONLY = (
    "expectations: these facts have counts of the nodes that expected an event, not the nodes;"
    " repeat the run without --count-expectations"
)
_PUBLICATIONS = ("expectations", "deliveries")


def check_integrity(facts: Facts) -> None:
    """Raise FactsError if rows name unknown nodes or events, or if expectations are only counted."""
    if (facts["expectations"]["node"].to_numpy() < 0).any():
        raise FactsError(COUNTS_ONLY)
    for table in _TABLES_OF_NODES:
        nodes = facts[table]["node"].to_numpy()
        unknown = nodes[(nodes < 0) | (nodes >= facts.run.nodes)]
        if len(unknown):
            raise FactsError(
                f"{table}: there is no node {unknown[0]}; the run has nodes 0 to {facts.run.nodes - 1}"
            )
    known = facts["publications"]["publication"].to_numpy()
    if len(known) and (known.min() < 0 or (known >> 32).max() >= facts.run.nodes):
        raise FactsError(
            "publications: the id of an event names a publisher that the run does not have;"
            f" it has nodes 0 to {facts.run.nodes - 1}"
        )
    for table in _PUBLICATIONS:
        _check_known(table, facts[table]["publication"].to_numpy(), known)
    answers = facts["requests"]["publication"].to_numpy()
    satisfied = np.array(
        [outcome == "satisfied" for outcome in facts["requests"]["outcome"].to_pylist()], bool
    )
    _check_known("requests", answers[satisfied], known)
    check_traits(facts.run)


def check_traits(run: RunManifest) -> None:
    """Raise FactsError if a trait that is a time is no number of seconds."""
    for name in ("subscription_lease", "recall"):
        value = run.traits.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise FactsError(f"run.json: the trait {name} is {value!r}; expected a number of seconds")


def _check_known(table: str, named: npt.NDArray[Any], known: npt.NDArray[Any]) -> None:
    unknown = named[~np.isin(named, known)]
    if len(unknown):
        raise FactsError(f"{table}: event {unknown[0]} is not in the table publications")
