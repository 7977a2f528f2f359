"""A newcomer finds any line at the first guess: small folders, names that stand once, a true picture."""

import importlib.util
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "roamcast"
MOST_FILES = 12

CROWDED = {
    "cli": "one file a verb",
    "routing/cbr/raft": "one file a mechanism of one protocol",
    "routing/clone": "one file a mechanism of one family",
    "testing/swarm": "one file a part of playing and judging a history",
    "testing/swarm/laws": "one law a file",
    "metrics": "one file a family of metrics",
    "why": "one file a way of travelling, a proof or a way of telling",
}
"Folders with more files, and why they still are."

DRAWERS = {"messages", "parameters", "errors"}
"Every family has these, as the design says."

TWICE = {
    "campaign": "the verb, and what it conducts",
    "changes": "between two campaigns, and how the terminal shows them",
    "check": "the verb for files, and the check of executors",
    "cluster": "the verb, and where Spark runs",
    "columns": "of one run in its folder; of the lake",
    "copies": "the baseline that sends one to each receiver; why copies were lost",
    "diff": "the verb, and the comparison",
    "draw": "faults of a run; histories of the swarm",
    "faults": "what may befall a node; the keys of a scenario that say so",
    "filter": "the verb, and the thing",
    "host": "what a router sees in a mesh, and in the simulator",
    "judge": "claims of a paper; histories of the swarm",
    "map": "the verb, and the drawing",
    "play": "faults of a run; histories of the swarm",
    "publishing": "of RAFT-CBR; of the two tiers",
    "requests": "who asks for what; how it was answered",
    "progress": "of a campaign, and how the terminal shows it",
    "record": "of a report, of an explanation, of a history",
    "readings": "of a paper, and how the report tells of them",
    "reference": "writes the page of scenarios, and that of messages",
    "result": "of a run, and of a campaign",
    "run": "the verb, and the run",
    "schema": "of event types, and of facts",
    "session": "with a subscriber, and with Spark",
    "summary": "of subscriptions, and of a run",
    "tables": "of facts, and of a campaign",
    "upkeep": "the verbs, and what they do",
    "watch": "the verb, and what it does",
    "why": "the verb, and the answer",
    "wishes": "of the two tiers, on their way; of brokers, as they tell them",
    "workload": "the keys of a scenario, and the plan of a run",
}
"Module names that stand in two rooms, each with the two things that it names."


def modules():
    return [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def test_no_folder_holds_more_files_than_one_can_look_over():
    folders = defaultdict(list)
    for path in modules():
        folders[str(path.parent.relative_to(PACKAGE))].append(path.name)
    crowded = {folder for folder, files in folders.items() if len(files) > MOST_FILES}
    assert crowded <= CROWDED.keys()


def test_a_module_name_stands_once_or_is_listed_with_its_reason():
    places = defaultdict(set)
    for path in modules():
        places[path.stem].add(path.parent)
    twice = {name for name, folders in places.items() if len(folders) > 1} - DRAWERS
    assert twice == TWICE.keys()


def test_the_picture_of_the_rooms_shows_the_imports_as_they_are():
    script = ROOT / "docs" / "images" / "rooms.py"
    spec = importlib.util.spec_from_file_location("rooms", script)
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    picture = script.with_name("rooms.svg").read_text()
    assert rooms.listing(rooms.imports()) in picture, "run: python docs/images/rooms.py"
