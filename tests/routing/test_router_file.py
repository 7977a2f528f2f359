"""A router in a file (FILE.py:CLASS) is found, named, covered by the id of a run, or refused in a line."""

import pickle

import pytest

from roamcast.campaign.version import code_version
from roamcast.errors import UserError
from roamcast.routing import catalogue
from roamcast.routing.router_file import RouterFile, add_file

SOURCE = '''
from __future__ import annotations
from roamcast.routing.flooding import Flooding
from roamcast.routing.router import Parameters

class MineParameters(Parameters):
    share: float = 0.5
    "Probability of repeating a message."

class MyRouter(Flooding):
    """Floods."""
    parameters_type = MineParameters
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    yield path
    catalogue.remove("my-router")


def test_the_protocol_is_named_after_its_class_and_explains_its_parameters(file):
    assert add_file(f"{file}:MyRouter") == "my-router"
    found = catalogue.find("my-router")
    assert found.__name__ == "MyRouter" and "my-router" in catalogue.names()
    assert found.parameters_type.model_fields["share"].description == "Probability of repeating a message."


@pytest.mark.parametrize(
    ("cls", "name"),
    [("Gossip", "gossip"), ("TwoTier", "two-tier"), ("XMLGate2", "xml-gate2"), ("a_b", "a-b")],
)
def test_names_of_classes_become_names_of_protocols(cls, name):
    assert RouterFile("f.py", cls, "").name == name


def test_an_edit_of_the_file_changes_the_version_and_the_class(file):
    add_file(f"{file}:MyRouter")
    before, first = code_version("my-router"), catalogue.find("my-router")
    add_file(f"{file}:MyRouter")
    assert code_version("my-router") == before and catalogue.find("my-router") is first
    file.write_text(SOURCE.replace("0.5", "0.6"))
    add_file(f"{file}:MyRouter")
    assert code_version("my-router") != before
    assert before.startswith(code_version("flooding") + ".")
    assert catalogue.find("my-router").parameters_type().share == 0.6


def test_it_travels_as_text_to_a_process_that_cannot_see_the_file(file):
    add_file(f"{file}:MyRouter")
    sent = pickle.dumps(catalogue.file_of("my-router"))
    version = code_version("my-router")
    catalogue.remove("my-router")
    file.unlink()
    came = pickle.loads(sent)
    catalogue.add(came.name, came)
    assert code_version("my-router") == version
    assert catalogue.find("my-router").__doc__ == "Floods."


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mine.py", "a file and a class are expected; write it like gossip.py:Gossip"),
        ("mine:MyRouter", "a file and a class are expected"),
        ("none.py:MyRouter", "cannot read none.py: No such file or directory"),
        ("mine.py:Other", "mine.py: has no class 'Other'; its routers: MyRouter"),
        (
            "mine.py:MineParameters",
            "MineParameters is not a subclass of roamcast.Router; its routers: MyRouter",
        ),
    ],
)
def test_what_is_no_router_is_told_in_a_line(file, monkeypatch, given, expected):
    monkeypatch.chdir(file.parent)
    with pytest.raises(UserError) as caught:
        add_file(given)
    assert expected in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import nothing_of_this_name", "mine.py:1: cannot be loaded: ModuleNotFoundError"),
        ("\nclass MyRouter(:\n", "mine.py:2: cannot be loaded: SyntaxError"),
        ("raise SystemExit(3)", "mine.py:1: cannot be loaded: SystemExit: 3"),
        ("a = '\0'", "mine.py: cannot be loaded: SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(file, source, expected):
    file.write_text(source)
    with pytest.raises(UserError) as caught:
        add_file(f"{file}:MyRouter")
    assert expected in str(caught.value)


def test_the_name_of_an_installed_protocol_and_of_another_file_is_refused(file, tmp_path):
    file.write_text(SOURCE.replace("MyRouter", "Cbr"))
    with pytest.raises(UserError, match="'cbr' is installed already"):
        add_file(f"{file}:Cbr")
    file.write_text(SOURCE)
    add_file(f"{file}:MyRouter")
    (tmp_path / "other.py").write_text(SOURCE)
    with pytest.raises(UserError, match="has a protocol 'my-router', too"):
        add_file(f"{tmp_path / 'other.py'}:MyRouter")


def test_every_own_protocol_is_an_entry_point_of_the_project(pytestconfig):
    import tomllib

    project = tomllib.loads((pytestconfig.rootpath / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"][catalogue.ENTRY_POINT]
    found = {name: entry.value for name, entry in catalogue.installed().items() if name in declared}
    assert found == declared and list(found) == list(declared), "run: make setup"
