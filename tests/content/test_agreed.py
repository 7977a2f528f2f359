"""What nodes have to agree on, in numbers, and what is easily lost without anybody's notice."""

import json

import pytest

from roamcast.content import event, schema
from roamcast.content.box import conjunction, field_order, point_set, record_list_set
from roamcast.content.codec import primitives
from roamcast.content.covering.candidates import _Column
from roamcast.content.errors import CodecError
from roamcast.content.event import Event
from roamcast.content.field_type import Integer
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.json.json_schema import JsonSchema
from roamcast.content.schema import EventType
from roamcast.content.summary import EventDigest, bloom, codec, digest, parts, summary
from roamcast.content.xml import event_target, xsd
from roamcast.content.xpath import parser, tokens

AGREED = {
    "bytes of an event or a filter": (primitives.MAX_BYTES, 65536),
    "bytes of a digest": (digest.MAX_BYTES, 65536),
    "bytes of a summary": (summary.MAX_BYTES, 65536),
    "types of a summary": (codec._MAX_TYPES, 1024),
    "rows of a summary": (summary.MAX_ROWS, 64),
    "ranges of a part": (parts.MAX_SPANS, 16),
    "bits of a Bloom filter": (bloom.MAX_BITS, 65536),
    "letters that are hashed": (digest.AFFIX, 16),
    "conjunctions of a filter": (MAX_CONJUNCTIONS, 256),
    "patterns of a conjunction": (conjunction.MAX_PATTERNS, 128),
    "pairs of a conjunction": (field_order.MAX_PAIRS, 16),
    "tests of records": (record_list_set.MAX_REQUIRED, 64),
    "circles of a conjunction": (point_set.MAX_DISCS, 16),
    "letters of a subscription": (tokens.MAX_TEXT, 65536),
    "brackets within brackets": (parser.MAX_NESTING, 64),
    "elements within elements": (event_target.MAX_DEPTH, 250),
    "steps of a field": (schema.MAX_DEPTH, 256),
    "bytes of a schema": (xsd.MAX_SCHEMA, 1048576),
    "bytes of JSON": (event.MAX_JSON, 1048576),
}


@pytest.mark.parametrize(("value", "agreed"), AGREED.values(), ids=AGREED)
def test_a_limit_is_the_same_for_all(value, agreed):
    """A node with another limit refuses what others send, or sends what others refuse."""
    assert value == agreed


def test_a_digest_of_more_bytes_than_agreed_is_refused_for_its_length():
    with pytest.raises(CodecError, match="the digest has 65537 bytes"):
        EventDigest.from_bytes(bytes(65537))
    with pytest.raises(CodecError, match="not in canonical form"):
        EventDigest.from_bytes(bytes(65536))


def test_a_column_counts_what_it_tells():
    type = EventType("n", {"n": Integer()})
    column = _Column()
    for number, value in enumerate((5, 1, 5, None, 9, 5, 3)):
        column.add(value, number)
    for text, expected in (("n>=3 and n<=5", 5), ("n=5", 4), ("n<1", 1), ("n=1 or n=9", 3), ("n!=5", 4)):
        [[(_, domain)]] = Filter.parse(f"/n[{text}]", type).conjunctions
        assert column.count(domain) == len(column.inside(domain)) == expected, text


def test_an_object_of_which_everything_is_missing_is_written_as_one():
    inner = {"type": "object", "properties": {"lat": {"type": "number"}}}
    read = JsonSchema(json.dumps({"type": "object", "properties": {"at": inner, "n": {"type": "integer"}}}))
    there = read.read('{"at": {}}')
    assert json.loads(read.write(there)) == {"at": {}} != json.loads(read.write(read.read("{}")))
    assert Event.from_json(there.to_json(), read.type()) == there
