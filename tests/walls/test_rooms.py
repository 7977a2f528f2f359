"""Layout of the package: small folders, class names with one meaning, a current picture of the imports."""

import ast
import importlib.util
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "roamcast"
MOST_FILES = 12

CROWDED = {
    "routing/clone": "one file a mechanism of one family",
    "testing/swarm": "one file a part of playing and judging a history",
    "testing/swarm/laws": "one law a file",
    "metrics": "one file a family of metrics",
}
"Folders with more files, and why they still are."

SHARED = {
    "Campaign": "the model of a campaign file; the public interface over it",
    "Node": "a node of the simulated world; a live node",
    "Subscription": "CBR's message; an application's handle on a live node",
    "Unicast": "the interface of unicast protocols; a packet of the live link",
}
"Public class names that stand for two things, each with the reason; fewer than ten."


def modules():
    return [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def test_no_folder_holds_more_files_than_one_can_look_over():
    folders = defaultdict(list)
    for path in modules():
        folders[str(path.parent.relative_to(PACKAGE))].append(path.name)
    crowded = {folder for folder, files in folders.items() if len(files) > MOST_FILES}
    assert crowded == CROWDED.keys()


def test_a_public_class_name_stands_for_one_thing_or_is_listed_with_its_reason():
    defined = defaultdict(list)
    for path in modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append(str(path.relative_to(PACKAGE)))
    twice = {name: files for name, files in defined.items() if len(files) > 1}
    assert twice.keys() == SHARED.keys(), twice
    assert len(SHARED) < 10


def test_the_picture_of_the_rooms_shows_the_imports_as_they_are():
    script = ROOT / "docs" / "images" / "rooms.py"
    spec = importlib.util.spec_from_file_location("rooms", script)
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    picture = script.with_name("rooms.svg").read_text()
    assert rooms.listing(rooms.imports()) in picture, "run: python docs/images/rooms.py"
