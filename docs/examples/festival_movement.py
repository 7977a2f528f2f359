"""Write the walks of the visitors of the scenario `festival` as positions (CSV: id, time, x, y).

Each visitor enters at a gate, walks to the crowd before the stage, changes place there now and then, and
leaves by a gate. `roamcast ingest` turns the file into movement and presence (docs/worlds.md).
"""

import csv
import sys
from itertools import pairwise
from math import ceil, floor, hypot
from random import Random

VISITORS = 50
GATES = ((0.0, 150.0), (200.0, 0.0), (400.0, 250.0))
CROWD = (210.0, 300.0, 120.0, 190.0)
"West, east, south and north end of the crowd before the stage [m]."
OPENS, ENDS = 90.0, 220.0
"Visitors arrive until the first time and leave within a minute after the second [s]."


def place_in_crowd(random: Random) -> tuple[float, float]:
    """Return a place in the crowd."""
    west, east, south, north = CROWD
    return random.uniform(west, east), random.uniform(south, north)


def walk(random: Random) -> list[tuple[float, float, float]]:
    """Return the turns of a visitor's walk: time [s], x and y [m]."""
    turns = [(random.uniform(0.0, OPENS), *random.choice(GATES))]
    leaves, pace = ENDS + random.uniform(0.0, 60.0), random.uniform(1.2, 1.8)

    def go(to: tuple[float, float], speed: float) -> None:
        time, x, y = turns[-1]
        turns.append((time + hypot(to[0] - x, to[1] - y) / speed, *to))

    go(place_in_crowd(random), pace)
    while (until := turns[-1][0] + random.uniform(30.0, 90.0)) < leaves:
        turns.append((until, *turns[-1][1:]))
        go(place_in_crowd(random), 0.7)
    turns.append((max(leaves, turns[-1][0] + 1.0), *turns[-1][1:]))
    go(random.choice(GATES), pace)
    return turns


def main() -> None:
    """Write the rows to standard output: the position of each visitor in each second."""
    random = Random("festival")
    rows = csv.writer(sys.stdout)
    rows.writerow(("id", "time", "x", "y"))
    for visitor in range(VISITORS):
        turns = walk(random)
        for time in range(ceil(turns[0][0]), floor(turns[-1][0]) + 1):
            (t0, x0, y0), (t1, x1, y1) = next(leg for leg in pairwise(turns) if leg[1][0] >= time)
            share = (time - t0) / (t1 - t0)
            rows.writerow(
                (f"v{visitor:02}", time, f"{x0 + share * (x1 - x0):.2f}", f"{y0 + share * (y1 - y0):.2f}")
            )


if __name__ == "__main__":
    main()
