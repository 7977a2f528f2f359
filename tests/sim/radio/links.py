"""Kernel worlds with options of the channel, and the powers that their receivers have."""

import numpy as np

from roamcast import _kernel

from ..twin import MAC, RADIO

FAR = {**RADIO, "range": 9e4, "carrier_sense": 1e5}
"A radio that is sensed everywhere, so that no power is cut off."


def world_of(points, seed=1, radio=None, mac=None, **channel):
    """Return a world of standing nodes with these options of the channel."""
    options = {**(RADIO if radio is None else radio), "channel": channel}
    world = _kernel.World(options, MAC if mac is None else mac, seed)
    for x, y in points:
        world.add_static(x, y)
    world.start()
    return world


def powers(world, source, nodes):
    """Return the power of a frame of `source` at each node [W], negative if it cannot be decoded, else 0."""
    found = np.zeros(nodes)
    for node, _, power in world.receivers(source):
        found[node] = power
    return found


def shadowing(sigma=6.0, correlation=20.0, side=1000.0):
    return {"sigma": sigma, "correlation": correlation, "width": side, "height": side}
