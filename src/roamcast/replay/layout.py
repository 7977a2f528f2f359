"""Positions for facts without movement, such as those of live nodes: neighbours are drawn near each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts

SIDE = 1000.0
"Side of the square in which nodes are placed."

MARGIN = 0.12
"Share of the square that stays empty at each side."

Reals = npt.NDArray[np.float64]


def place_by_links(facts: Facts) -> pa.Table:
    """Return legs of nodes that stand still, placed by the number of hops between them.

    A link is a pair of nodes of which one sent the other a unicast that arrived.
    """
    nodes, duration = facts.run.nodes, facts.run.duration
    places = _spread(_count_hops(facts["transmissions"], nodes))
    x, y = pa.array(places[:, 0]), pa.array(places[:, 1])
    start, end = pa.array(np.zeros(nodes)), pa.array(np.full(nodes, duration))
    columns = {"node": np.arange(nodes), "start": start, "end": end, "x0": x, "y0": y, "x1": x, "y1": y}
    schema = TABLES["legs"]
    return pa.table({name: pa.array(columns[name]) for name in schema.names}).cast(schema)


def _count_hops(transmissions: pa.Table, nodes: int) -> Reals:
    """Return the number of hops between each two nodes; one more than the most where no path is known."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    a, b = (transmissions[name].to_numpy().astype(np.int64) for name in ("node", "to"))
    known = (b >= 0) & (b < nodes) & ~transmissions["failed"].to_numpy()
    links = coo_array((np.ones(int(known.sum())), (a[known], b[known])), (nodes, nodes)).tocsr()
    hops: Reals = shortest_path(links, directed=False, unweighted=True)
    finite = np.isfinite(hops)
    return np.where(finite, hops, hops[finite].max(initial=0.0) + 1)


def _spread(hops: Reals) -> Reals:
    """Return x and y of each node by classical scaling of the hops; on a circle if these are all equal."""
    nodes = len(hops)
    angle = 2 * np.pi * np.arange(nodes) / nodes
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    centre = np.eye(nodes) - 1 / nodes
    values, vectors = np.linalg.eigh(-0.5 * centre @ hops**2 @ centre)
    main = np.argsort(values)[::-1][:2]
    places = vectors[:, main] * np.sqrt(np.maximum(values[main], 0))
    distinct = len(np.unique(hops[~np.eye(nodes, dtype=bool)])) > 1
    if places.shape != (nodes, 2) or not distinct:
        places = circle if nodes > 1 else np.zeros((nodes, 2))
    places = places + 0.02 * circle * max(np.abs(places).max(initial=0.0), 1.0)  # apart where hops are equal
    places *= np.where(places[np.argmax(np.abs(places), 0), np.arange(2)] < 0, -1, 1)  # one sign everywhere
    size = max(float(np.ptp(places, axis=0).max()), 1e-9)
    middle = (places.max(0) + places.min(0)) / 2
    scaled: Reals = SIDE / 2 + (places - middle) / size * SIDE * (1 - 2 * MARGIN)
    return scaled
