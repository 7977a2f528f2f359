"""The command `roamcast replay`: show a run as an animated map in the browser."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.shared.limits import LARGEST_SEED
from roamcast.errors import UserError
from roamcast.files import safe_name

if TYPE_CHECKING:
    from roamcast.facts.tables import Facts
    from roamcast.replay.recording import Recording

MOST_PANES = 4
"Maximum number of runs side by side; with more the maps are too small to read."

LARGE = 32_000_000
"Size of a file that browsers open slowly [B]."


def command(  # noqa: PLR0917 - typer takes options as parameters
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Facts folder of `roamcast run --facts`, run of a campaign (DIR/run=ID), campaign folder, "
            "scenario file or name of a shipped scenario. Several facts folders are shown side by side.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Protocol; several are shown side by side. Not for facts folders."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the run, for a scenario or campaign.")
    ] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="HTML file to write; by default named after the run.")
    ] = None,
    event: Annotated[
        str | None, typer.Option(metavar="E", help="Event to open at, as publisher/sequence: 0/641.")
    ] = None,
    node: Annotated[int | None, typer.Option(min=0, metavar="N", help="Node to open at.")] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Serve the page on this machine instead of writing a file, until Ctrl-C."
        ),
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --serve; 0 takes a free one.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object about the file.")] = False,
) -> None:
    """Write a run, or several side by side, as one HTML file that needs no network, or serve it."""
    from roamcast.replay.viewer import make_viewer
    from roamcast.why.presentation.names import name_publication, read_publication

    parts = [] if event is None else [f"event={name_publication(read_publication(event))}"]
    parts += [] if node is None else [f"node={node}"]
    at = "#" + "&".join(parts) if parts else ""
    with ExitStack() as stack:
        recordings = name_apart(
            [stack.enter_context(each) for each in _find(what, protocol, seed, settings or [], serve)]
        )
        if serve:
            _serve(recordings, port, at)
            return
        file = out or Path(f"{safe_name(_name(recordings))}.html")
        page = make_viewer(recordings).encode()
        _write(file, page)
        link = file.resolve().as_uri() + at
        if json:
            _print_record(recordings, file, link, len(page))
        else:
            print(f"{file}: {len(page) / 1e6:.1f} MB\n{link}")
    if len(page) > LARGE:
        print(f"roamcast: warning: {file} is large; --serve opens such runs faster", file=sys.stderr)


def _serve(recordings: list[Recording], port: int, at: str) -> None:
    from roamcast.replay.server import ReplayServer

    with ReplayServer(recordings, port) as server:
        print(f"{server.address}{at}\nCtrl-C ends the server", flush=True)
        server.serve_forever()


def _find(
    what: Sequence[str], protocol: str | None, seed: int, settings: Sequence[str], parts: bool
) -> Iterator[AbstractContextManager[Recording]]:
    """Yield contexts of the recordings that the arguments mean; `parts` reads frames when they are needed."""
    from roamcast.lake.storage import StorageUrl

    names = [] if protocol is None else [name.strip() for name in protocol.split(",")]
    if max(len(what), len(names)) > MOST_PANES:
        raise UserError(f"{max(len(what), len(names))} runs; at most {MOST_PANES} fit side by side")
    if len(set(names)) != len(names) or not all(names):
        raise UserError(f"--protocol {protocol!r}: name each protocol once, as in cbr,flooding")
    for each in what:
        place = StorageUrl(each)
        last = str(place).rpartition("/")[2]
        if (place / "campaign.json").exists():
            yield from (_of_facts(run, name, parts) for name, run in _runs_of(each, names, seed))
        elif last.startswith("run=") or (place.local is not None and place.local.is_dir()):
            if names or settings:
                raise UserError(f"{each} is a recorded run; --protocol and --set are only for scenarios")
            yield _of_facts(each, "", parts)
        else:
            yield from (_of_scenario(each, name, seed, settings, parts) for name in names or ["flooding"])


@contextmanager
def _of_facts(place: str, name: str, parts: bool) -> Iterator[Recording]:
    from roamcast.lake.reading import open_facts, read_facts
    from roamcast.replay.recording import Recording

    if parts:
        facts, tables = open_facts(place)
        yield Recording(facts, name, tables)
    else:
        yield Recording(read_facts(place), name)


@contextmanager
def _of_scenario(
    scenario: str, protocol: str, seed: int, settings: Sequence[str], parts: bool
) -> Iterator[Recording]:
    """Simulate a scenario; its facts are kept as long as the context."""
    from functools import partial

    from roamcast.cli.scenarios.run import play_run
    from roamcast.facts.folder import FactsFolder
    from roamcast.replay.recording import Recording
    from roamcast.routing import catalogue
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate
    from roamcast.sim.run import simulate

    world = load(locate(scenario), settings)
    catalogue.find(protocol)
    with TemporaryDirectory(prefix="roamcast-replay-") as spare:
        play = partial(simulate, world, protocol, seed, folder=Path(spare))
        facts = play_run(play, f"{world.name}, {protocol}, seed {seed}", world.duration)
        yield Recording(facts, source=FactsFolder(Path(spare)) if parts else None)


def _runs_of(campaign: str, protocols: list[str], seed: int) -> list[tuple[str, str]]:
    """Return label and place of the runs of a campaign with one seed, at its first point."""
    from roamcast.pipeline.campaign_folder import CampaignFolder

    rows = CampaignFolder(campaign).read_table("points").to_pylist()
    first = {row["protocol"]: row for row in reversed(rows) if row["seed"] == seed}
    if not first:
        raise UserError(f"{campaign}: no run has seed {seed}")
    chosen = protocols or list(first)[:1]
    for name in chosen:
        if name not in first:
            raise UserError(
                f"{campaign}: no protocol {name!r} with seed {seed}; it has {', '.join(sorted(first))}"
            )
    return [(name, f"{campaign.rstrip('/')}/run={first[name]['run']}") for name in chosen]


def name_apart(recordings: list[Recording]) -> list[Recording]:
    """Number runs of the same name, and refuse runs whose maps differ in size."""
    from roamcast.replay.geometry import describe_ground

    if not recordings:
        raise UserError("no run to show")
    areas = [describe_ground(each.facts)["area"] for each in recordings]
    if any(area != areas[0] for area in areas):
        raise UserError("runs side by side share one map; these have areas of different size")
    counts = Counter(each.name for each in recordings)
    for number, each in enumerate(recordings, 1):
        if counts[each.name] > 1:
            each.name = f"{each.name} ({number})"
    return recordings


def _name(recordings: list[Recording]) -> str:
    run = recordings[0].facts.run
    return "-".join([run.scenario, *(each.name for each in recordings), str(run.seed)])


def _write(file: Path, page: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from None


def _print_record(recordings: list[Recording], file: Path, link: str, size: int) -> None:
    import msgspec

    def tell(facts: Facts) -> dict[str, object]:
        run = facts.run
        about = {"scenario": run.scenario, "protocol": run.protocol, "seed": run.seed, "nodes": run.nodes}
        return about | {"duration": run.duration, "transmissions": len(facts["transmissions"])}

    record = {
        "file": str(file),
        "link": link,
        "bytes": size,
        "runs": [tell(each.facts) for each in recordings],
    }
    print(msgspec.json.encode(record).decode())
