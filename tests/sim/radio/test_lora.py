"""The LoRa radio: durations by Semtech's formula, ALOHA and activity detection, the duty cycle, energy."""

import math

import numpy as np
import pytest

from roamcast import _kernel
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import ScenarioError, load
from roamcast.sim.run import simulate

from ..test_kernel_laws import Listener, Note
from ..twin import MAC, RADIO

LORA = {"bandwidth": 125e3, "coding": 1, "preamble": 8, "listen": False, "duty_cycle": 1.0}


def lora_world(points, seed=1, mac=MAC, **changes):
    lora = {**LORA, "spreading_factor": 7, **changes}
    world = _kernel.World({**RADIO, "capture": 4.0}, {**mac, "network_header": 0, "lora": lora}, seed)
    for x, y in points:
        world.add_static(x, y)
    world.start()
    hosts = [_kernel.Host(world, node) for node in range(len(points))]
    listeners = [Listener(host) for host in hosts]
    for node, listener in enumerate(listeners):
        world.attach(node, listener)
    world.record_losses(True)
    return world, hosts, listeners


def note(size):
    message = Note()
    message.size = size
    return message


def airtime(factor, size, bandwidth=125e3, coding=1):
    """Return the duration of a frame by Semtech's formula (SX1276 data sheet, 4.1.1.7) [s]."""
    symbol = 2**factor / bandwidth
    optimised = symbol > 0.016
    blocks = math.ceil((8 * size - 4 * factor + 28 + 16) / (4 * (factor - 2 * optimised)))
    return (8 + 4.25) * symbol + (8 + max(blocks, 0) * (coding + 4)) * symbol


# Published by The Things Network's air time calculator for 125 kHz, 4/5: payload [B], milliseconds.
PUBLISHED = [(7, 23, 61.7), (12, 23, 1482.8), (9, 23, 205.8), (10, 23, 370.7)]


@pytest.mark.parametrize(("factor", "size", "milliseconds"), PUBLISHED)
def test_the_formula_gives_known_durations(factor, size, milliseconds):
    assert airtime(factor, size) * 1e3 == pytest.approx(milliseconds, abs=0.06)


@pytest.mark.parametrize("factor", range(7, 13))
@pytest.mark.parametrize("coding", [1, 4])
def test_frames_last_as_long_as_the_formula_says(factor, coding):
    for size in (8, 23, 51, 255):
        world, hosts, _ = lora_world([(0, 0), (10, 0)], spreading_factor=factor, coding=coding)
        hosts[0].call_later(0, hosts[0].broadcast, note(size - 8))
        world.run_until(60.0)
        assert world.transmissions()["airtime"] == pytest.approx([airtime(factor, size, coding=coding)])
        world.close()


def test_a_unicast_is_sent_once_and_not_acknowledged():
    world, hosts, listeners = lora_world([(0, 0), (100, 0), (900, 0)])
    hosts[0].call_later(0, hosts[0].send, note(20), 1)
    hosts[0].call_later(1, hosts[0].send, note(20), 2)  # out of range: nobody tells
    world.run_until(10.0)
    counters = world.counters()
    assert (counters["data"], counters["ack"], counters["rts"], counters["retry_limit"]) == (2, 0, 0, 0)
    assert len(listeners[1].heard) == 1
    assert world.transmissions()["failed"].tolist() == [0, 0]


def together(**changes):
    """Return how many of 50 pairs of frames, of two nodes that sense each other, a third node receives."""
    world, hosts, listeners = lora_world([(-100, 0), (100, 0), (0, 50)], **changes)
    for frame in range(50):
        hosts[0].call_later(frame, hosts[0].broadcast, note(20))
        hosts[1].call_later(frame + 0.01, hosts[1].broadcast, note(20))  # during the frame of the other
    world.run_until(120.0)
    return len(listeners[2].heard)


def test_aloha_collides_where_activity_detection_waits():
    assert together() == 0
    assert together(listen=True) > 90


def test_the_duty_cycle_holds_frames_back():
    """Frames start airtime / duty cycle apart; what overflows the queue is dropped with the reason."""
    world, hosts, listeners = lora_world([(0, 0), (100, 0)], mac={**MAC, "queue": 5}, duty_cycle=0.01)
    for message in range(8):
        hosts[0].call_later(0.001 * message, hosts[0].broadcast, note(20))
    world.run_until(100.0)
    times = world.transmissions()["time"]
    duration = airtime(7, 28)
    assert len(times) == len(listeners[1].heard) == 5
    assert np.diff(times).tolist() == pytest.approx([100 * duration] * 4)
    assert world.counters()["duty_cycle"] == 3 and world.counters()["queue_full"] == 0
    assert world.lost_frames()["cause"].tolist() == [16 + 5] * 3


SENSORS = """
name = "sensors"
area = { width = "3000 m", height = "3000 m" }
duration = "600 s"
[nodes.all]
count = 12
[workload.types.reading]
n = "integer"
[workload.publish.all]
every = "120 s"
size = "24 B"
content = { type = "reading", values = { n = 1 } }
[workload.subscribe.all]
interest = ["/reading"]
[radio.lora]
"""


def read(tmp_path, more=""):
    file = tmp_path / "s.toml"
    file.write_text(SENSORS + more)
    return load(file)


def test_ranges_follow_from_the_spreading_factor(tmp_path):
    near, far = (read(tmp_path, f"spreading_factor = {factor}") for factor in (7, 12))
    assert far.radio.range == pytest.approx(near.radio.range * 10 ** (12.5 / 40))  # two-ray ground
    # -124.5 dBm at 14 dBm over two-ray ground with antennas of 1.5 m.
    assert near.radio.range == pytest.approx((1.5**4 * 10 ** ((14 + 124.5) / 10)) ** 0.25, rel=0.02)
    assert near.mac.max_message == 247 and near.radio.frequency == 868e6
    assert Scenario.model_validate(near.model_dump(mode="json", by_alias=True)).radio == near.radio


def test_a_flood_of_sensors_stays_within_the_duty_cycle(tmp_path):
    facts = simulate(read(tmp_path), "flooding", 1)
    sent = facts["transmissions"].to_pandas()
    assert sent.groupby("node")["airtime"].sum().max() <= 0.01 * 600 + sent["airtime"].max()
    assert len(facts["deliveries"]) > 200
    metrics = evaluate(metric_input(facts))
    powers = 0.145 + metrics["neighbours"] * 0.036  # W: a frame is received by the mean number of neighbours
    assert metrics["energy"] == pytest.approx(metrics["airtime"] * powers)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("spreading_factor = 13", "radio.lora.spreading_factor: should be less than or equal to 12"),
        ("duty_cycle = 0.0", "radio.lora.duty_cycle: should be greater than 0"),
        ("[mac]\nmax_message = '400 B'", "mac.max_message: a LoRa frame carries a message of at most 247 B"),
        ("[mac]\narp = true", "mac.arp: a LoRa radio has no address resolution"),
        ("[radio.reception]\nmodel = 'sinr'", "lora and reception exclude each other"),
        ("[workload.publish.other]\nevery = '9 s'\nsize = '512 B'", "exceed the maximum message size"),
    ],
)
def test_what_cannot_be_is_said(tmp_path, more, message):
    with pytest.raises(ScenarioError) as raised:
        read(tmp_path, more)
    assert message in str(raised.value)
