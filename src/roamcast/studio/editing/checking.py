"""Checks, maps and changes of scenario texts, and the import of traces; called in a worker process."""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.scenario.read import load
from roamcast.studio.editing.forms import make_form, read_input, read_path
from roamcast.studio.editing.toml_edit import set_key

if TYPE_CHECKING:
    from roamcast.report.drawings.map import MapData
    from roamcast.scenario.model import Scenario

_LINE = re.compile(r"^(?P<file>.*?):(?P<line>\d+): ")
_MOST_DRAWN = 2000
"Nodes that a map shows; further ones are left out."
_MOST_TRAILS = 300


def check(file: str, text: str) -> dict[str, Any]:
    """Return what `roamcast check` says about `text` as the content of `file`, with a map and a form."""
    from roamcast.api.checking import check_scenario

    record: dict[str, Any] = {"problems": [], "summary": "", "map": None, "form": None}
    with suppress(tomllib.TOMLDecodeError, RecursionError, UserError):  # the check reports them
        record["form"] = make_form(tomllib.loads(text))
    try:
        scenario, record["summary"] = check_scenario(Path(file), text)
        record["map"] = describe_map(scenario)
    except UserError as error:
        record["problems"] = [_problem(line) for line in str(error).splitlines()]
    return record


def _problem(line: str) -> dict[str, Any]:
    found = _LINE.match(line)
    return {"text": line, "line": int(found["line"]) if found else None}


def edit(file: str, text: str, changes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `text` with keys changed, and its check; a change has `path`, `input` and `value`."""
    for change in changes:
        value = None if change["value"] is None else read_input(change["input"], change["value"])
        text = set_key(text, read_path(change["path"]), value)
    return {"text": text, "check": check(file, text)}


def overview(file: str) -> dict[str, Any]:
    """Return name, size and map of a scenario file for the gallery, or what is wrong with it."""
    try:
        scenario = load(file)
        ground = describe_map(scenario)
    except UserError as error:
        return {"problem": str(error).splitlines()[0]}
    about = _first_comment(Path(file))
    sizes = {"nodes": scenario.count, "duration": scenario.duration}
    return {"name": scenario.name, "about": about, "map": ground, **sizes}


def _first_comment(file: Path) -> str:
    lines = []
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)[:400]


def describe_map(scenario: Scenario) -> dict[str, Any]:
    """Return the map of a scenario with seed 1, as JSON values."""
    from roamcast.api.maps import map_data

    ground = map_data(scenario, 1)
    grid = scenario.content.grid
    return {
        "width": scenario.area.width,
        "height": scenario.area.height,
        "range": scenario.radio.range,
        "moment": ground.moment,
        "zone": None if grid is None or len(grid) > 400 else grid.side,
        "buildings": [[each.polygon, *each.holes] for each in scenario.radio.obstacles],
        "groups": _groups(scenario, ground),
    }


def _groups(scenario: Scenario, ground: MapData) -> list[dict[str, Any]]:
    found = []
    step = max(1, -(-scenario.count // _MOST_DRAWN))
    for name, nodes in scenario.members():
        group = scenario.groups[name]
        shown = nodes[::step]
        places = [[round(each, 2) for each in ground.trails[node][-1]] for node in shown]
        publishing = [number for number, node in enumerate(shown) if node in ground.publishers]
        trails = []
        if group.mobility != "static" and scenario.count <= _MOST_TRAILS:
            trails = [[[round(x, 1), round(y, 1)] for x, y in ground.trails[node]] for node in shown]
        found.append(
            {
                "name": name,
                "count": group.count,
                "mobility": group.mobility,
                "placed": group.at is not None,
                "at": places,
                "publishing": publishing,
                "trails": trails,
            }
        )
    return found


def find_able(file: str) -> dict[str, Any]:
    """Return the protocols with a line about each, and which cannot run in a scenario, with the reason."""
    from roamcast.api.comparing import choose_able
    from roamcast.routing.catalogue import find, working

    able, left_out = choose_able(load(file))
    rows = [
        {"name": name, "about": _first_sentence(find(name).__doc__ or ""), "able": name in able}
        for name in working()[0]
    ]
    return {"protocols": rows, "left_out": [reason.removeprefix("warning: ") for reason in left_out]}


def _first_sentence(docstring: str) -> str:
    first = " ".join(docstring.split()).replace("`", "")
    return first.partition(". ")[0].removesuffix(".") + "." if first else ""


def import_trace(file: str, out: str) -> dict[str, Any]:
    """Import a movement trace as a scenario into the folder `out`, as `roamcast ingest` does."""
    from roamcast.ingest.importing import check_output, conclude, import_movement, recognise

    found, form = recognise([file], None)
    if form.name == "ns2trace":
        raise UserError(
            f"{Path(file).name}: is a trace of a run, not of movement; import it with: "
            "roamcast ingest FILE --out DIR"
        )
    question = {"files": found, "format": form.name, "geo": False, "presence": "recorded"}
    check_output(Path(out), question, replace=False)
    report = {"movement": import_movement(found, form, {"geo": "false"}, Path(out))}
    conclude(Path(out), question, report)
    return report["movement"]
