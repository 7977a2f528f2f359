"""Histories for the laws of unicast routing: links that come and go, losses, crashes, and messages."""

from random import Random

from roamcast.content.schema import EventType
from roamcast.routing.router import Publication
from roamcast.routing.unicast.copies import Copy
from roamcast.testing import LinkModel, Mesh

News = EventType("news", {})
STEP = 0.05


def play(router, seed, check, *, nodes=7, turns=30, crashes=True):
    """Play a history drawn from a seed; `check(mesh)` looks at it twenty times a second."""
    random = Random(seed)
    links = LinkModel(loss=random.choice((0, 0.1, 0.3)), jitter=random.choice((0, 0.03)), tries=2)
    mesh = Mesh(nodes, router, links=links, seed=seed)
    mesh.add_event_type(News)
    pairs = [(a, b) for a in range(nodes) for b in range(a)]
    near = [(n, n + 1) for n in range(nodes - 1)] + [(n, n + 2) for n in range(nodes - 2)]
    for a, b in near[: nodes - 1] + random.sample(pairs, 2):
        mesh.join(a, b)
    flows = [random.sample(range(nodes), 2) for _ in range(4)]
    dead = set()
    for turn in range(turns):
        for _ in range(random.randrange(3)):
            a, b = random.choice(near if random.random() < 0.8 else pairs)
            (mesh.cut if random.random() < 0.5 else mesh.join)(a, b)
        if crashes and random.random() < 0.15:
            node = random.randrange(nodes)
            (mesh.revive if node in dead else mesh.kill)(node)
            dead ^= {node}
        for number in range(random.randrange(5)):
            origin, to = random.choice(flows) if random.random() < 0.8 else random.sample(range(nodes), 2)
            if origin not in dead:
                publication = Publication(origin, (turn + 1) * 100 + number, News())
                mesh.routers[origin].unicast.send(Copy(publication), to)
        for _ in range(random.choice((1, 2, 5, 5, 30))):
            mesh.run(for_=STEP)
            check(mesh, dead)
    return mesh
