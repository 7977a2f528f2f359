"""Buildings of a scenario: reading of polygon files, and their validity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from roamcast.errors import UserError
from roamcast.files import FileError, read_text
from roamcast.scenario.radio.settings import Building, Corner

MOST_BUILDINGS = 100_000


def read_buildings(path: Path, building: Building) -> Iterator[Building]:
    """Yield a building with the losses of `building` for each polygon of a GeoJSON or WKT file."""
    import shapely

    try:
        text = read_text(path)
        geojson = path.suffix.lower() in (".json", ".geojson")
        geometry = shapely.from_geojson(text) if geojson else shapely.from_wkt(text)
    except FileError as error:
        raise UserError(str(error)) from None
    except shapely.errors.GEOSException as error:
        raise UserError(f"{path}: not valid {'GeoJSON' if geojson else 'WKT'}: {error}") from None
    found = [part for part in shapely.get_parts(geometry, return_index=False) for part in _polygons(part)]
    if not found:
        raise UserError(f"{path}: no polygon found; expected Polygon or MultiPolygon geometries")
    if len(found) > MOST_BUILDINGS:
        raise UserError(f"{path}: {len(found)} polygons; expected at most {MOST_BUILDINGS}")
    for polygon in found:
        rings = {
            "polygon": _corners(polygon.exterior.coords),
            "holes": tuple(_corners(hole.coords) for hole in polygon.interiors),
        }
        yield building.model_copy(update=rings | {"file": None})


def _polygons(geometry: Any) -> Iterator[Any]:
    """Yield the polygons of a geometry, at any depth of collections."""
    if geometry.geom_type == "Polygon":
        yield geometry
    elif hasattr(geometry, "geoms"):
        for part in geometry.geoms:
            yield from _polygons(part)


def _corners(coordinates: Iterable[Any]) -> tuple[Corner, ...]:
    """Return the corners of a closed ring, the first one once."""
    return tuple(Corner(float(x), float(y)) for x, y, *_ in coordinates)[:-1]


def invalid(building: Building) -> str:
    """Return why a polygon is not valid, such as a crossing of its own edges; empty if it is valid."""
    import shapely

    polygon = shapely.Polygon(building.polygon, building.holes)
    return "" if polygon.is_valid else str(shapely.is_valid_reason(polygon))
