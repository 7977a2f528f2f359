"""Event types and events of a scenario that come from schema files and documents."""

import json
from pathlib import Path

import pytest

from roamcast.content.declare import declare_type, write_type
from roamcast.content.schema_file import load_schema
from roamcast.facts.tables import Facts
from roamcast.scenario.read import ScenarioError, load
from roamcast.scenario.resolved import digest_files, resolve
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.sim.workload import plan

ROOT = Path(__file__).parents[2]

BOOK = """\
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="genre.xsd"/>
<xs:element name="book"><xs:complexType><xs:sequence>
<xs:element name="title" type="xs:string"/><xs:element name="genre" type="genre"/>
</xs:sequence></xs:complexType></xs:element></xs:schema>
"""
GENRE = """\
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:simpleType name="genre">
<xs:restriction base="xs:string"><xs:enumeration value="poem"/><xs:enumeration value="novel"/>
</xs:restriction>
</xs:simpleType></xs:schema>
"""
LOAN = {"title": "loan", "type": "object", "required": ["days"], "properties": {"days": {"type": "integer"}}}
LIBRARY = """\
name = "library"
area = { width = "100 m", height = "100 m" }
duration = "20 s"
[nodes.desk]
count = 2
[workload]
schema = ["book.xsd", "loan.json"]
[workload.publish.desk]
count = 1
every = "2 s"
content = { documents = ["first.xml", "second.xml", "third.json"] }
[workload.subscribe.desk]
interest = ["/book[genre = 'poem']", "/loan[days > 7]"]
"""


@pytest.fixture
def library(tmp_path):
    (tmp_path / "book.xsd").write_text(BOOK)
    (tmp_path / "genre.xsd").write_text(GENRE)
    (tmp_path / "loan.json").write_text(json.dumps(LOAN))
    (tmp_path / "first.xml").write_text("<book><title>Erlkönig</title><genre>poem</genre></book>")
    (tmp_path / "second.xml").write_text("<book><title>Emma</title><genre>novel</genre></book>")
    (tmp_path / "third.json").write_text('{"days": 14}')
    file = tmp_path / "library.toml"
    file.write_text(LIBRARY)
    return file


def test_documents_are_published_in_turn_and_advertised_by_type(library):
    scenario = load(library)
    planned = plan(scenario, 1)
    events = [each.event for each in planned.publications]
    assert [event.type.name for event in events[:4]] == ["book", "book", "loan", "book"]
    assert events[0]["title"] == "Erlkönig" and events[2]["days"] == 14
    assert sorted(each.filter.type.name for each in planned.advertisements) == ["book", "loan"]


def test_documents_in_random_order_are_drawn_from_the_seed(library):
    library.write_text(
        LIBRARY.replace(" }\n[workload.subscribe", ', order = "random" }\n[workload.subscribe')
    )
    first, again, other = (
        [each.event for each in plan(load(library), seed).publications] for seed in (1, 1, 2)
    )
    assert first == again != other
    assert {event.type.name for event in first} == {"book", "loan"}


def test_subscriptions_match_events_of_both_schemas_and_facts_explain_themselves(library, tmp_path):
    facts = simulate(load(library), "flooding", 1, folder=tmp_path / "facts")
    assert 0 < len(facts["expectations"]) < len(facts["publications"])
    read = Facts.read(tmp_path / "facts")
    types = {
        name: declare_type(name, expected)
        for name, expected in read.run.resolved["workload"]["types"].items()
    }
    for name, type in load(library).content.types.items():  # run.json sorts its keys
        assert set(types[name].fields) == set(type.fields)


def test_the_digest_of_a_schema_covers_the_files_that_it_includes(library):
    before = digest_files(load(library))
    assert before.keys() == {
        *("workload.schema.0", "workload.schema.1"),
        *(f"workload.publish.desk.content.documents.{number}" for number in range(3)),
    }
    (library.parent / "genre.xsd").write_text(GENRE.replace("novel", "drama"))
    (library.parent / "second.xml").write_text("<book><title>Faust</title><genre>drama</genre></book>")
    after = digest_files(load(library))
    assert {key for key in before if before[key] != after[key]} == {
        "workload.schema.0",
        "workload.publish.desk.content.documents.1",
    }
    assert load(library).fingerprint() == load(library).fingerprint()


def test_a_scenario_spelled_out_names_files_without_folders(library):
    plain = resolve(load(library))
    assert plain["workload"]["schema"] == ["book.xsd", "loan.json"]
    assert plain["workload"]["publish"]["desk"]["content"]["documents"][0] == "first.xml"


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("second.xml", "<book><title>Emma</title><genre>essay</genre></book>", "second.xml"),
        ("second.xml", "<book><title>Emma</title>", "second.xml"),
        ("third.json", '{"days": "many"}', "third.json"),
        ("book.xsd", "<not-a-schema/>", "book.xsd"),
        ("loan.json", "[]", "loan.json"),
    ],
)
def test_a_wrong_schema_or_document_is_named_with_its_key(library, file, text, complaint):
    (library.parent / file).write_text(text)
    with pytest.raises(ScenarioError, match=rf"library\.toml.*workload\.(schema|publish).*{complaint}"):
        load(library)


def test_a_missing_document_and_documents_without_a_schema_are_refused(library):
    (library.parent / "second.xml").unlink()
    with pytest.raises(ScenarioError, match=r"content\.documents: no such file.*second\.xml"):
        load(library)
    library.write_text(LIBRARY.replace('schema = ["book.xsd", "loan.json"]', ""))
    with pytest.raises(ScenarioError, match="documents need event types"):
        load(library)


def test_two_definitions_of_one_event_type_are_refused(library):
    library.write_text(
        LIBRARY.replace(
            "[workload.publish", '[workload.types]\nloan = { days = "string" }\n[workload.publish', 1
        )
    )
    with pytest.raises(ScenarioError, match="'loan' is declared twice"):
        load(library)


@pytest.mark.parametrize(
    "name",
    [
        "cap-1.2.xsd",
        "cd.xsd",
        "gpx-1.1.xsd",
        "siri-vm.xsd",
        "xmpp-message.xsd",
        "cot-event.xsd",
        "sensor.schema.json",
    ],
)
def test_a_type_of_a_schema_is_the_same_type_when_it_is_declared_from_plain_data(name):
    (file,) = [path for folder in ("docs/examples", "scenarios/cap") for path in (ROOT / folder).glob(name)]
    for type in load_schema(file).types.values():
        assert declare_type(type.name, json.loads(json.dumps(write_type(type)))) == type


def test_the_river_scenario_alerts_by_area_of_the_earth():
    facts = simulate(load(locate("river"), {"duration": "90 s"}), "flooding", 1)
    alerts = facts["publications"]["event"].to_pylist()
    assert any("Flood" in alert for alert in alerts)
    assert 0 < len(facts["expectations"]) < len(alerts) * 52
    assert len(facts["deliveries"]) > 0
