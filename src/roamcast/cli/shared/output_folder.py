"""Whose a folder is: what answers one question is not overwritten by another, unless one says so."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.lake.log import Commit
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    from roamcast.pipeline.campaign_folder import CampaignFolder


class FolderInUse(UserError):
    """A folder that belongs to another question."""


def find_folder(base: str, question: dict[str, Any]) -> str:
    """Return `base`, or `base` with the first number whose folder is free or belongs to `question`."""
    for number in count(1):
        folder = base if number == 1 else f"{base}-{number}"
        place = StorageUrl(folder)
        if not (place / "run.json").exists() and _owner(place)[0] in (None, _plain(question)):
            return folder
    raise AssertionError("counting has no end")


def reserve_folder(
    store: CampaignFolder, question: dict[str, Any], runs: Iterable[str], *, replace: bool
) -> None:
    """See that the folder is free or belongs to `question`; with `replace` clear it of another's results.

    Facts of runs that the new question needs too (`runs`) are kept, with those committed beside them.
    """
    if (store.folder / "run.json").exists():
        raise FolderInUse(f"{store.folder}: holds the facts of a run; give another folder")
    store.check_layout()
    if not (store.folder / "campaign.json").exists():
        return
    known, made_by = _owner(store.folder)
    if known == _plain(question):
        return
    if not replace:
        by = f" (made by: {made_by})" if made_by else ""
        raise FolderInUse(
            f"{store.folder}: belongs to another question{by}; give another folder with --out, "
            "or --overwrite to give that one up"
        )
    with store.lock():
        _clear(store, set(runs))


def _plain(question: dict[str, Any]) -> Any:
    """Return a question as it is read from a file."""
    return json.loads(json.dumps(question))


def _owner(folder: StorageUrl) -> tuple[Any, Any]:
    """Return the question that a folder belongs to and the command that made it; None for a free folder.

    The question of a folder whose file cannot be read is empty: it is no other's and not free.
    """
    file = folder / "campaign.json"
    if not file.exists():
        return None, None
    try:
        kept = json.loads(file.read())
        return kept.get("question") or {}, kept.get("command")
    except (OSError, ValueError, AttributeError):
        return {}, None


def _clear(store: CampaignFolder, needed: set[str]) -> None:
    """Give up what was made of the runs, and the runs that nobody needs."""
    tables = store.folder / "tables"
    for file in (store.folder / "report.html", *(tables / name for name in tables.list())):
        file.remove()
    for name in ("figures", "watch", "watch.html", "replays"):
        (store.folder / name).remove()
    for run in store.staging.survey():
        if run not in needed:
            store.staging.remove(run)
    useless = [b.name for b in store.snapshot().batches.values() if needed.isdisjoint(b.runs)]
    before = store.snapshot()
    if useless and store.log.append(before, Commit(remove=useless)) is not None:
        store.remove_batches(before, useless)
    (store.folder / "campaign.json").remove()


def reserve_facts_folder(folder: Path, told: dict[str, Any], *, replace: bool) -> None:
    """See that a folder of facts is free or holds the run that is `told`, or is given up by `replace`."""
    if (folder / "campaign.json").exists() or (folder / "manifest.json").exists():
        raise FolderInUse(f"--facts {folder}: belongs to a campaign; give another folder")
    try:
        kept = json.loads((folder / "run.json").read_bytes())
        other = {key: kept.get(key) for key in told}
    except (OSError, ValueError, AttributeError):
        return
    if replace or other == json.loads(json.dumps(told)):
        return
    what = f"{other.get('scenario')}, {other.get('protocol')}, seed {other.get('seed')}"
    raise FolderInUse(
        f"--facts {folder}: holds another run ({what}); give another folder, or --overwrite to give it up"
    )
