"""The cells of a campaign's runs, for the rows of their facts."""

from __future__ import annotations

from collections.abc import Iterable

from roamcast.campaign.plan import PlannedCell
from roamcast.lake.cells import RunCell


def find_cells(title: str, places: Iterable[PlannedCell]) -> dict[str, RunCell]:
    """Return the first cell of each run in a plan of the campaign `title`."""
    cells: dict[str, RunCell] = {}
    for place in places:
        if place.run not in cells:
            cells[place.run] = RunCell(title, place.protocol, place.seed, place.point)
    return cells
