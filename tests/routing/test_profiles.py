from types import MappingProxyType

import pytest

from roamcast.errors import UserError
from roamcast.routing import catalogue
from roamcast.routing.profiles import AS_PUBLISHED, LIVE, NS2, profiles, with_profile
from roamcast.routing.router import Parameters, Router
from roamcast.units import FROM_FILE

PUBLISHED = [name for name in catalogue.names() if catalogue.find(name).as_published is not None]


def value_at(parameters, key):
    for part in key.split("."):
        parameters = getattr(parameters, part)
    return parameters


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_a_profile_names_is_a_parameter_with_another_default(name):
    router = catalogue.find(name)
    usual = router.parameters_type()
    given = with_profile(router, {"profile": AS_PUBLISHED})
    published = router.parameters_type.model_validate(given, context=FROM_FILE)
    for key in router.as_published:
        assert value_at(published, key) != value_at(usual, key)


@pytest.mark.parametrize("name", catalogue.names())
def test_every_built_in_protocol_has_a_live_profile_of_valid_parameters_with_other_values(name):
    router = catalogue.find(name)
    usual = router.parameters_type()
    given = with_profile(router, {"profile": LIVE})
    live = router.parameters_type.model_validate(given, context=FROM_FILE)
    for key in router.live:
        assert value_at(live, key) != value_at(usual, key)


class Depth(Parameters):
    kept: bool = True
    hops: int = 3


class DeepParameters(Parameters):
    wide: bool = True
    deep: Depth = Depth()


class Improved(Router):
    """A router that goes beyond its paper twice."""

    parameters_type = DeepParameters
    as_published = MappingProxyType({"wide": False, "deep.kept": False})


def test_a_profile_holds_below_what_is_given_besides():
    given = with_profile(Improved, {"profile": AS_PUBLISHED, "wide": True, "deep": {"hops": 5}})
    assert given == {"wide": True, "deep": {"kept": False, "hops": 5}}
    assert with_profile(Improved, {"deep": {"hops": 5}}) == {"deep": {"hops": 5}}


def test_a_profile_that_nobody_declared_is_refused_and_those_there_are_named():
    with pytest.raises(UserError, match="no profile 'as-told'; the protocol has as-published, live"):
        with_profile(Improved, {"profile": "as-told"})
    with pytest.raises(UserError, match="no profile 'as-published'; the protocol has live"):
        with_profile(Router, {"profile": AS_PUBLISHED})
    assert profiles(Router) == {LIVE: {}}


@pytest.mark.parametrize("name", ["aodv-unicast", "dsr-unicast"])
def test_the_profile_of_ns_2_is_made_of_valid_parameters_with_other_values(name):
    router = catalogue.find(name)
    usual = router.parameters_type()
    given = with_profile(router, {"profile": NS2})
    ns2 = router.parameters_type.model_validate(given, context=FROM_FILE)
    for key in router.ns2:
        assert value_at(ns2, key) != value_at(usual, key), key


def test_a_protocol_that_ns_2_does_not_have_has_no_such_profile():
    with pytest.raises(UserError, match=r"no profile 'ns2'; the protocol has live"):
        with_profile(catalogue.find("flooding"), {"profile": NS2})
