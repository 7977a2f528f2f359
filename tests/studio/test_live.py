"""Live nodes whose configuration is in the folder are shown as `roamcast top` shows them."""

import asyncio

import httpx

from roamcast.live.control import listen
from roamcast.studio.app import make_app
from roamcast.studio.security import AccessKeys
from tests.live.network import line, network
from tests.studio.client import HOST, TOKEN


def test_running_nodes_and_those_that_do_not_answer_are_listed(tmp_path):
    for name in ("a", "b", "gone"):
        config = f'name = "{name}"\nlisten = "127.0.0.1:7001"\ncontrol = "{name}.sock"\n'
        (tmp_path / f"{name}.toml").write_text(config)
    (tmp_path / "odd.toml").write_text("control = 5\n")

    async def story():
        app = make_app(tmp_path, AccessKeys(TOKEN), frozenset({HOST}))
        transport = httpx.ASGITransport(app)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            network(2, line(2)) as (a, b),
            listen(a, tmp_path / "a.sock"),
            listen(b, tmp_path / "b.sock"),
            httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client,
        ):
            async with asyncio.timeout(30):
                while True:
                    nodes = {each["file"]: each for each in (await client.get("/api/live")).json()["nodes"]}
                    if nodes["a.toml"]["state"]["neighbours"]:
                        break
                    await asyncio.sleep(0.05)
            assert nodes["a.toml"]["state"]["node"] == a.id
            assert [each["node"] for each in nodes["a.toml"]["state"]["neighbours"]] == [b.id]
            assert nodes["gone.toml"]["state"] is None and "no node answers" in nodes["gone.toml"]["problem"]
            assert nodes["odd.toml"]["problem"]

    asyncio.run(story())
