"""Prometheus scrapes a node."""

import asyncio
import urllib.request

import pytest

from roamcast.live.errors import LiveError
from roamcast.live.monitoring.prometheus import serve_metrics
from tests.live.network import alert, line, network, run


def test_prometheus_reads_counters_of_a_node():
    async def story():
        async with network(2, line(2)) as (a, b):
            b.subscribe("/alert")
            await a.publish(alert(1))
            a.reports["mqtt"] = lambda: {
                "connected": True,
                "inbound": {"waiting": 2},
                "outbound": {"lost": 1},
            }
            async with serve_metrics(a, "127.0.0.1:0") as port:
                opened = await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{port}/metrics")
                text = opened.read().decode()
        values = dict(row.rsplit(" ", 1) for row in text.splitlines() if not row.startswith("#"))
        assert values["roamcast_published_total"] == "1.0" and float(values["roamcast_uptime_seconds"]) > 0
        assert values['roamcast_link_total{what="frames_sent"}'] != "0.0"
        assert values['roamcast_mqtt_waiting{direction="inbound"}'] == "2.0"
        assert values['roamcast_mqtt_messages_total{direction="outbound",what="lost"}'] == "1.0"
        assert f'node="{a.id}"' in text

    run(story)


def test_an_address_in_use_is_reported():
    async def story():
        async with network(1, []) as [node], serve_metrics(node, "127.0.0.1:0") as port:
            with pytest.raises(LiveError, match="cannot serve metrics"):
                async with serve_metrics(node, f"127.0.0.1:{port}"):
                    pass

    run(story)
