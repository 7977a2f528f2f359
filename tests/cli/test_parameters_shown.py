"""`roamcast protocols NAME` shows the parameters that people change; `--all` and `--json` show all."""

import json

import pytest

from roamcast.cli.app import invoke
from roamcast.cli.scenarios.protocols import parameters
from roamcast.routing.catalogue import find
from roamcast.routing.profiles import with_profile
from roamcast.routing.reference import own_protocols
from roamcast.routing.router import Parameters


def leaves(given, prefix=""):
    for key in type(given).model_fields:
        value = getattr(given, key)
        if isinstance(value, Parameters):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


@pytest.mark.parametrize("name", own_protocols())
def test_all_parameters_are_listed_with_the_default_that_the_router_has(name):
    router = find(name)
    rows = parameters(name)
    known = dict(leaves(router.parameters_type()))
    assert {row["parameter"]: row["default"] for row in rows} == known
    main = [row["parameter"] for row in rows if row["main"]]
    assert main == list(router.main_parameters) == [row["parameter"] for row in rows[: len(main)]]
    assert len(known) <= 8 or 3 <= len(main) <= 8
    assert all(row["about"] for row in rows)


@pytest.mark.parametrize("name", own_protocols())
def test_the_value_as_published_is_that_of_the_profile(name):
    router = find(name)
    if router.as_published is None:
        return
    profile = dict(
        leaves(router.parameters_type.model_validate(with_profile(router, {"profile": "as-published"})))
    )
    for row in parameters(name):
        if row.get("as published"):
            assert row["parameter"] in router.as_published
        else:
            assert profile[row["parameter"]] == row["default"]


def test_few_are_shown_and_the_rest_on_demand(capsys):
    assert invoke(["protocols", "raft-cbr"]) == 0
    few = capsys.readouterr().out
    assert (
        "window" in few
        and "dsr.overheard_limit" not in few
        and "more parameters: roamcast protocols raft-cbr --all" in few
    )
    assert invoke(["protocols", "raft-cbr", "--all"]) == 0
    assert "dsr.overheard_limit" in capsys.readouterr().out
    assert invoke(["protocols", "flooding"]) == 0
    assert "more:" not in capsys.readouterr().out
    assert invoke(["protocols", "raft-cbr", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > 100
