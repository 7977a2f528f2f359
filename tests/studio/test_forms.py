"""Forms are complete: every key of the models has a field with its kind, default and meaning."""

import tomllib

import pytest

from roamcast.errors import UserError
from roamcast.scenario.model import Mac, Scenario
from roamcast.scenario.radio.settings import Radio
from roamcast.studio.editing.forms import MAIN, make_form, read_input
from tests.studio.client import ROOT

TEXT = (ROOT / "scenarios" / "shopping.toml").read_text()


def fields(form):
    return {".".join(field["path"]): field for section in form for field in section["fields"]}


def test_every_key_of_the_radio_and_the_mac_has_a_field():
    found = fields(make_form(tomllib.loads(TEXT)))
    for prefix, model in (("radio", Radio), ("mac", Mac)):
        for key in model.model_fields:  # a table has fields of its own
            assert any(f"{field}.".startswith(f"{prefix}.{key}.") for field in found), key
    assert found["radio.range"]["default"] == "250 m" and found["radio.range"]["kind"] == "length"
    assert found["radio.range"]["about"] == Radio.model_fields["range"].description


def test_values_are_those_of_the_text_and_main_keys_come_first():
    form = make_form(tomllib.loads(TEXT))
    found = fields(form)
    assert found["duration"]["value"] == "800 s" and found["nodes.walkers.count"]["value"] == "50"
    assert found["nodes.walkers.speed"]["value"] == '{ min = "0.1 m/s", max = "1 m/s" }'
    assert found["mac.arp"]["value"] is None and found["mac.arp"]["input"] == "bool"
    for section in form:
        main = [field["main"] for field in section["fields"]]
        assert main == sorted(main, reverse=True)


def test_main_keys_are_keys_of_their_models():
    for model, keys in MAIN.items():
        assert set(keys) <= {field.alias or name for name, field in model.model_fields.items()}, model


def test_the_form_of_an_empty_text_asks_for_what_is_required():
    required = {key for key, field in fields(make_form({})).items() if field["required"] and "." not in key}
    wanted = {name for name, field in Scenario.model_fields.items() if field.is_required()}
    assert required == wanted - {"area", "groups"}


@pytest.mark.parametrize(
    "entry, text, value", [("number", " 5 ", 5), ("bool", "true", True), ("text", " x ", "x")]
)
def test_inputs_are_read_as_values(entry, text, value):
    assert read_input(entry, text) == value


@pytest.mark.parametrize(
    "entry, text", [("number", "x"), ("bool", "yes"), ("toml", "[1"), ("toml", "1\nname = 2")]
)
def test_a_wrong_input_is_refused(entry, text):
    with pytest.raises(UserError, match="expected"):
        read_input(entry, text)
