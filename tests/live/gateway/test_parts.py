"""Parts of the MQTT gateway, without a broker."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from roamcast.errors import UserError
from roamcast.live import Config
from roamcast.live.errors import LiveError
from roamcast.live.gateway.client import BrokerMessage
from roamcast.live.gateway.inbound import Inbound
from roamcast.live.gateway.settings import PublishRule
from roamcast.live.gateway.spool import Spool
from roamcast.live.gateway.topics import TopicTemplate
from tests.live.network import network, run

LEVELS = st.text(st.characters(blacklist_characters="/+#{}\0", blacklist_categories=("Cs",)), min_size=1)


@given(LEVELS, LEVELS)
def test_a_rendered_topic_is_matched_with_the_same_fields(station, room):
    template = TopicTemplate("a/{station}/b/{room}")
    fields = {"station": station[:256], "room": room[:256]}
    assert template.match(template.render(fields)) == fields


@given(st.text())
def test_a_rendered_field_is_one_level_without_wildcards(value):
    topic = TopicTemplate("x/{field}").render({"field": value})
    assert topic.count("/") == 1 and not set("+#\0") & set(topic) and topic != "x/"


def test_topics_of_other_templates_do_not_match():
    template = TopicTemplate("a/{x}")
    assert template.match("a/b/c") is None and template.match("b/c") is None
    assert template.wildcard == "a/+"


@pytest.mark.parametrize("text", ["", "a//b", "a/+", "a/#", "a/{x", "a/b{x}", "{x}/{x}"])
def test_a_topic_with_wildcards_or_empty_levels_is_refused(text):
    with pytest.raises(LiveError):
        TopicTemplate(text)


def test_the_configuration_refuses_unknown_keys_of_the_gateway():
    with pytest.raises(ValidationError):
        Config.model_validate({"mqtt": {"borker": "x"}})


def test_a_spool_keeps_messages_in_order_across_a_restart(tmp_path):
    spool = Spool(tmp_path / "spool")
    first, second = spool.add("a", b"1", 7, False), spool.add("b", b"2", 8, True)
    spool.remove(first.number)
    spool.close()
    again = Spool(tmp_path / "spool")
    assert list(again.after(0, 10)) == [second]
    assert again.add("c", b"3", 9, False).number > second.number
    assert [each.topic for each in again.after(0, 1)] == ["b"] and len(again) == 2


def test_a_file_that_is_no_spool_is_refused(tmp_path):
    (tmp_path / "spool").write_bytes(b"nonsense" * 1000)
    with pytest.raises(LiveError, match="cannot keep messages"):
        Spool(tmp_path / "spool")


def _message(payload, topic="a/3", connection=1):
    return BrokerMessage(connection, 1, 1, topic, payload, {})


@given(st.binary(max_size=60) | st.sampled_from([b'{"level": 5}', b"[]", b'{"text": 1}', b"{" * 5000]))
def test_any_payload_is_an_event_or_a_user_error(payload):
    async def story():
        async with network(1, []) as [node]:
            inbound = Inbound(node, (PublishRule(topic="a/{level}", type="alert"),), 0.0, lambda _: None)
            try:
                event, _ = inbound.read(_message(payload))
            except UserError:
                return
            assert event["level"] == 3

    run(story)


def test_a_message_that_the_broker_sends_again_is_published_once():
    async def story():
        async with network(1, []) as [node]:
            acknowledged = []
            rules = (PublishRule(topic="a", type="alert"),)
            inbound = Inbound(node, rules, 0.0, acknowledged.append)
            inbound.start()
            first, second = (_message(b'{"level": 1}', "a", connection) for connection in (1, 3))
            inbound.take(first)
            inbound.take(second)
            while not acknowledged:
                await asyncio.sleep(0.01)
            assert node.published == 1 and acknowledged == [second]
            await inbound.stop()

    run(story)


def test_a_rule_for_an_unknown_type_is_refused():
    async def story():
        async with network(1, []) as [node]:
            with pytest.raises(LiveError, match="no event type 'nothing'"):
                Inbound(node, (PublishRule(topic="a", type="nothing"),), 0.0, print)

    run(story)
