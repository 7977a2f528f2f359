"""The viewer: one HTML file with its script, its style and the packed runs; it needs no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from roamcast.replay.packing import Packer
from roamcast.replay.recording import Recording

MODULES = (
    "dom.js",
    "unpack.js",
    "run.js",
    "air.js",
    "journey.js",
    "search.js",
    "colours.js",
    "sprites.js",
    "view.js",
    "structure.js",
    "map.js",
    "charts.js",
    "timeline.js",
    "panel.js",
    "log.js",
    "link.js",
    "about.js",
    "panes.js",
    "legend.js",
    "controls.js",
    "main.js",
)
"The script's modules, each after those that it imports."

_MARK = re.compile(r"@(policy|title|style|script|data)@")
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)


def make_viewer(recordings: Sequence[Recording], title: str = "") -> str:
    """Return the page of one run, or of several side by side."""
    packer = Packer()
    runs = [recording.pack(packer) for recording in recordings]
    block = packer.finish({"runs": runs})
    return make_page(title or name_runs(recordings), base64.b64encode(block).decode())


def name_runs(recordings: Sequence[Recording]) -> str:
    """Return the title of a page: scenario, protocols and seed."""
    first = recordings[0].facts.run
    *others, last = [each.name for each in recordings]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{first.scenario}, {names}, seed {first.seed}"


def make_page(title: str, data: str, *, served: bool = False) -> str:
    """Return the page with `data`, packed runs in base64; a `served` one may load pieces from its server."""
    web = files("roamcast.replay") / "web"
    script, style = join_modules(), (web / "style.css").read_text("utf-8")
    source = "'self'" if served else "'none'"
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}';"
        f" connect-src {source}; base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "title": escape(title), "style": style, "script": script, "data": data}
    page = (web / "page.html").read_text("utf-8")
    return _MARK.sub(
        lambda mark: parts[mark[1]], page
    )  # in one pass: a part may contain what looks like a mark


def join_modules() -> str:
    """Return the viewer's ES modules as one script: without their imports, in one scope."""
    web = files("roamcast.replay") / "web"
    texts = [(web / name).read_text("utf-8") for name in MODULES]
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
