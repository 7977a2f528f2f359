"""Ownership of results folders: a command does not overwrite results of a different configuration.

The configuration is stored as `question` in campaign.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.lake.snapshot import Commit
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    from roamcast.pipeline.campaign_folder import CampaignFolder


class FolderInUse(UserError):
    """The folder belongs to a different configuration."""


def find_folder(base: str, question: dict[str, Any]) -> str:
    """Return `base`, or `base-N` with the smallest N, whose folder is free or belongs to `question`."""
    for number in count(1):
        folder = base if number == 1 else f"{base}-{number}"
        place = StorageUrl(folder)
        if not (place / "run.json").exists() and _owner(place)[0] in (None, _plain(question)):
            return folder
    raise AssertionError("unreachable: count() is infinite")


def reserve_folder(
    store: CampaignFolder, question: dict[str, Any], runs: Iterable[str], *, replace: bool
) -> None:
    """Raise FolderInUse unless the folder is free or belongs to `question`; with `replace`, clear it instead.

    Facts of the runs `runs`, and of runs in the same batches, are kept.
    """
    if (store.folder / "run.json").exists():
        raise FolderInUse(f"{store.folder}: holds the facts of a run; choose another folder")
    store.check_layout()
    if not (store.folder / "campaign.json").exists():
        return
    known, made_by = _owner(store.folder)
    if known == _plain(question):
        return
    if not replace:
        by = f" (made by: {made_by})" if made_by else ""
        raise FolderInUse(
            f"{store.folder}: holds results of a different configuration{by}; choose another folder "
            "with --out, "
            "or overwrite them with --overwrite"
        )
    with store.lock():
        _clear(store, set(runs))


def _plain(question: dict[str, Any]) -> Any:
    """Return `question` as JSON decoding returns it."""
    return json.loads(json.dumps(question))


def _owner(folder: StorageUrl) -> tuple[Any, Any]:
    """Return the configuration that owns a folder, and the command that made it.

    Both are None for a free folder. If campaign.json cannot be read, the configuration is empty: it equals no
    other, and the folder is not free.
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
    """Remove tables, reports and figures, and the runs that are not in `needed`."""
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


def reserve_facts_folder(folder: Path, described: dict[str, Any], *, replace: bool) -> None:
    """Raise FolderInUse unless the facts folder is free, holds the run described, or `replace` is set."""
    if (folder / "campaign.json").exists() or (folder / "manifest.json").exists():
        raise FolderInUse(f"--facts {folder}: belongs to a campaign; choose another folder")
    try:
        kept = json.loads((folder / "run.json").read_bytes())
        other = {key: kept.get(key) for key in described}
    except (OSError, ValueError, AttributeError):
        return
    if replace or other == json.loads(json.dumps(described)):
        return
    what = f"{other.get('scenario')}, {other.get('protocol')}, seed {other.get('seed')}"
    raise FolderInUse(
        f"--facts {folder}: holds a different run ({what}); choose another folder, or overwrite "
        "it with --overwrite"
    )
