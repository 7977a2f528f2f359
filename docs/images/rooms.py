"""Draw docs/images/rooms.svg, the rooms of the code and who imports whom: `python docs/images/rooms.py`."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "roamcast"
TARGET = Path(__file__).with_name("rooms.svg")
INK, PALE, FILL = "#22333b", "#9aa5ab", "#eef1f2"
LEGEND = {
    "content": "events and filters",
    "wire": "message encoding",
    "routing": "protocols",
    "scenario": "scenario files",
    "facts": "recorded tables",
    "testing": "mesh, fault tests",
    "sim": "the simulator",
    "advisor": "predictions",
    "live": "nodes on sockets",
    "metrics": "metrics of runs",
    "why": "causes of losses",
    "lake": "tables and commits",
    "ingest": "trace import",
    "campaign": "campaign files",
    "results": "finished campaigns",
    "pipeline": "campaigns on Spark",
    "report": "reports",
}


def imports() -> dict[str, set[str]]:
    """For each room, the rooms that it imports when it runs; command line and studio are left out."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"api", "cli", "studio"}
    return {room: _known(room) & rooms - {room} for room in sorted(rooms)}


def _known(room: str) -> set[str]:
    known = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for node in _running(ast.parse(path.read_text())):
            modules = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            known |= {module.split(".")[1] for module in modules if module.startswith("roamcast.")}
    return known


def _running(tree: ast.AST) -> list[ast.AST]:
    """All nodes but those that are there for type checkers alone."""
    found: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            found += [node, *_running(node)]
    return found


def depths(known: dict[str, set[str]]) -> dict[str, int]:
    """How far each room is from those that import nothing."""
    depth: dict[str, int] = {}

    def measure(room: str) -> int:
        if room not in depth:
            depth[room] = 1 + max((measure(other) for other in known[room]), default=-1)
        return depth[room]

    for room in known:
        measure(room)
    return depth


def nearest(known: dict[str, set[str]], room: str) -> set[str]:
    """The rooms that a room imports and does not know by way of another already: the arrows worth drawing."""
    indirect: set[str] = set()
    for other in known[room]:
        stack = list(known[other])
        while stack:
            further = stack.pop()
            if further not in indirect:
                indirect.add(further)
                stack.extend(known[further])
    return known[room] - indirect


def draw() -> None:
    """Draw the rooms, those that import nothing below."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "rooms"
    from matplotlib import pyplot as plt

    known = imports()
    depth = depths(known)
    rows: dict[int, list[str]] = {}
    for room in sorted(known, key=lambda each: (depth[each], each)):
        rows.setdefault(depth[room], []).append(room)
    places = {
        room: ((place + 1) / (len(row) + 1) * 10, level * 1.5)
        for level, row in rows.items()
        for place, room in enumerate(row)
    }
    figure, axes = plt.subplots(figsize=(8, 1.05 * len(rows)))
    for room, (x, y) in places.items():
        for other in sorted(nearest(known, room)):
            axes.annotate(
                "",
                xy=(places[other][0], places[other][1] + 0.36),
                xytext=(x, y - 0.36),
                arrowprops={"arrowstyle": "->", "color": PALE, "lw": 1.2},
            )
        axes.text(
            x,
            y,
            f"{room}\n{LEGEND.get(room, '')}".strip(),
            ha="center",
            va="center",
            color=INK,
            fontsize=9,
            bbox={"boxstyle": "round,pad=0.35", "fc": FILL, "ec": INK, "lw": 0.8},
        )
    axes.set_xlim(0, 10)
    axes.set_ylim(-0.7, 1.5 * (len(rows) - 1) + 0.7)
    axes.axis("off")
    figure.savefig(TARGET, metadata={"Date": None, "Description": listing(known)}, bbox_inches="tight")


def listing(known: dict[str, set[str]]) -> str:
    """Who imports whom, in words; the picture carries it, so that a test can tell whether it is true."""
    return "; ".join(f"{room}: {', '.join(sorted(others)) or 'nothing'}" for room, others in known.items())


if __name__ == "__main__":
    draw()
