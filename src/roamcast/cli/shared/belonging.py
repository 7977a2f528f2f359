"""Whose a folder is: what answers one question is not overwritten by another, unless one says so."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.lake.log import Entry

if TYPE_CHECKING:
    from roamcast.pipeline.store import Store


class Occupied(UserError):
    """A folder that belongs to another question."""


def claim_folder(store: Store, question: dict[str, Any], runs: Iterable[str], *, replace: bool) -> None:
    """See that the folder is free or belongs to `question`; with `replace` clear it of another's results.

    Facts of runs that the new question needs too (`runs`) are kept, with those committed beside them.
    """
    if (store.folder / "run.json").exists():
        raise Occupied(f"{store.folder}: holds the facts of a run; give another folder")
    file = store.folder / "campaign.json"
    store.check_layout()
    if not file.exists():
        return
    try:
        kept = json.loads(file.read())
        known, made_by = kept.get("question"), kept.get("command")
    except (OSError, ValueError, AttributeError):
        known, made_by = None, None
    if known == json.loads(json.dumps(question)):
        return
    if not replace:
        by = f" (made by: {made_by})" if made_by else ""
        raise Occupied(
            f"{store.folder}: belongs to another question{by}; give another folder with --out, "
            "or --replace to give that one up"
        )
    with store.lock():
        _clear(store, set(runs))


def _clear(store: Store, needed: set[str]) -> None:
    """Give up what was made of the runs, and the runs that nobody needs."""
    tables = store.folder / "tables"
    for file in (store.folder / "report.html", *(tables / name for name in tables.list())):
        file.remove()
    for name in ("figures", "watch", "watch.html"):
        (store.folder / name).remove()
    for run in store.staging.survey():
        if run not in needed:
            store.staging.remove(run)
    useless = [b.name for b in store.snapshot().batches.values() if needed.isdisjoint(b.runs)]
    before = store.snapshot()
    if useless and store.log.append(before, Entry(remove=useless)) is not None:
        store.remove_batches(before, useless)
    (store.folder / "campaign.json").remove()


def claim_facts(folder: Path, told: dict[str, Any], *, replace: bool) -> None:
    """See that a folder of facts is free or holds the run that is `told`, or is given up by `replace`."""
    if (folder / "campaign.json").exists() or (folder / "manifest.json").exists():
        raise Occupied(f"--facts {folder}: belongs to a campaign; give another folder")
    try:
        kept = json.loads((folder / "run.json").read_bytes())
        other = {key: kept.get(key) for key in told}
    except (OSError, ValueError, AttributeError):
        return
    if replace or other == json.loads(json.dumps(told)):
        return
    what = f"{other.get('scenario')}, {other.get('protocol')}, seed {other.get('seed')}"
    raise Occupied(
        f"--facts {folder}: holds another run ({what}); give another folder, or --replace to give it up"
    )
