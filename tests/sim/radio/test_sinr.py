"""SINR reception against its slow twin; error rates and durations against the values of ns-3's tests."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roamcast import _kernel
from roamcast.scenario.radio.ofdm import REFERENCE_SIZE, STANDARDS, required_snr

from ..test_kernel_laws import Listener, Note, play, sent_by, talks, worlds
from ..twin import MAC, RADIO, SENSE, received_power
from .sinr_twin import bit_error_rate, verdicts

# Success of 2,000 B at a ratio [dB], from ns-3's own test of its NIST model (wifi-error-rate-models-test.cc).
NS3 = {
    6e6: {2.5: (2.04e-10, 1e-10), 3.0: (0.020, 1e-3), 4.0: (0.885, 1e-3), 5.0: (0.997, 1e-3)},
    9e6: {6.0: (0.097, 1e-3), 7.0: (0.918, 1e-3), 8.0: (0.998, 1e-3)},
    12e6: {6.0: (0.0174, 1e-3), 7.0: (0.881, 1e-3), 8.0: (0.997, 1e-3)},
    18e6: {8.5: (2.85e-6, 1e-6), 9.5: (0.623, 1e-3), 10.5: (0.985, 1e-3)},
    24e6: {12.0: (2.22e-7, 1e-7), 13.0: (0.495, 1e-3), 14.0: (0.974, 1e-3)},
    36e6: {15.5: (0.012, 1e-3), 16.5: (0.818, 1e-3), 17.5: (0.993, 1e-3)},
    48e6: {20.0: (1.3e-4, 1e-4), 21.0: (0.649, 1e-3), 22.0: (0.983, 1e-3)},
    54e6: {21.0: (5.44e-8, 1e-8), 22.0: (0.410, 1e-3), 23.0: (0.958, 1e-3)},
}


@pytest.mark.parametrize("rate", NS3)
def test_error_rates_are_those_that_ns3_tests_for(rate):
    *_, modulation, code = STANDARDS["802.11g"].unicast[rate].for_kernel()
    for decibels, (success, tolerance) in NS3[rate].items():
        found = _kernel.success_rate(modulation, code, 10 ** (decibels / 10), 2000 * 8)
        assert found == pytest.approx(success, abs=tolerance)


@given(st.sampled_from(list(STANDARDS["802.11n"].unicast.values())), st.floats(-5, 35))
def test_the_kernel_has_the_bit_errors_of_the_formula(mode, decibels):
    snr = 10 ** (decibels / 10)
    *_, modulation, code = mode.for_kernel()
    expected = (1 - bit_error_rate(mode.scheme, snr)) ** 1000
    assert _kernel.success_rate(modulation, code, snr, 1000) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_rate_sets_are_those_of_the_standards():
    rates = {name: [rate / 1e6 for rate in standard.unicast] for name, standard in STANDARDS.items()}
    assert rates == {
        "802.11g": [6, 9, 12, 18, 24, 36, 48, 54],
        "802.11n": [6.5, 13, 19.5, 26, 39, 52, 58.5, 65],
        "802.11p": [3, 4.5, 6, 9, 12, 18, 24, 27],
    }
    assert STANDARDS["802.11n"].basic.keys() == STANDARDS["802.11g"].basic.keys()
    assert [round(standard.difs * 1e6) for standard in STANDARDS.values()] == [34, 34, 58]


def ofdm(standard, rate=None, basic=None, **changes):
    """Return the kernel's MAC parameters for a standard."""
    known = STANDARDS[standard]
    rate, basic = rate or min(known.unicast), basic or min(known.basic)
    modes = {"unicast": known.unicast[rate].for_kernel(), "basic": known.basic[basic].for_kernel()}
    times = {"slot": known.slot, "sifs": known.sifs, "difs": known.difs, "cw_min": 15}
    return {
        **MAC,
        **times,
        "rate": rate,
        "basic_rate": basic,
        "ofdm": {"symbol": known.symbol, **modes},
        **changes,
    }


@pytest.mark.parametrize(
    ("standard", "rate", "size", "microseconds"),
    [
        ("802.11g", 54e6, 1536, 248),
        ("802.11g", 54e6, 76, 32),
        ("802.11p", 27e6, 1536, 496),
        ("802.11p", 27e6, 76, 64),
        ("802.11n", 65e6, 1536, 228),
        ("802.11n", 65e6, 76, 48),
    ],
)
def test_frames_last_as_long_as_ns3_tests_for(standard, rate, size, microseconds):
    """Values of ns-3's tx-duration-test.cc for 20 MHz, 10 MHz and HT with the mixed preamble."""
    world = _kernel.World(RADIO, ofdm(standard, rate, rts_threshold=10_000, network_header=0), 1)
    for x in (0, 10):
        world.add_static(x, 0)
    world.start()
    hosts = [_kernel.Host(world, node) for node in (0, 1)]
    for node, host in enumerate(hosts):
        world.attach(node, Listener(host))
    note = Note()
    note.size = size - 34  # the MAC header and the checksum
    hosts[0].call_later(0, hosts[0].send, note, 1)
    world.run_until(1.0)
    assert world.counters()["ack"] == 1
    assert world.transmissions()["airtime"] * 1e6 == pytest.approx([microseconds])
    world.close()


NOISE = STANDARDS["802.11g"].noise(7.0)
PREAMBLE = 10**0.4


def sinr_world(points, seed, basic=6e6, **options):
    """Return a world whose broadcasts are just decoded at 250 m."""
    mode = STANDARDS["802.11g"].basic[basic]
    power = RADIO["power"] * NOISE * max(required_snr(mode), PREAMBLE) / received_power(250)
    channel = {"sinr": {"noise": NOISE, "preamble": PREAMBLE}, **options}
    world = _kernel.World({**RADIO, "power": power, "channel": channel}, ofdm("802.11g", basic=basic), seed)
    for x, y in points:
        world.add_static(x, y)
    return world, mode, power / RADIO["power"]


@settings(max_examples=300, deadline=None)
@given(worlds, talks, st.integers(0, 2**32), st.sampled_from([6e6, 12e6, 54e6]))
def test_frames_end_as_the_twin_says(points, talk, seed, basic):
    world, mode, scale = sinr_world(points, seed, basic)
    quick = [(node, time / 4) for node, time in talk]  # frames are shorter than those of ns-2
    listeners = play(world, len(points), quick)
    sent = sent_by(world)

    def mean(distance):
        return received_power(distance) * scale

    kinds = {"mode": mode, "noise": NOISE, "preamble": PREAMBLE}
    expected = verdicts(sent, points, mean, mean(SENSE), seed, **kinds)
    assume(all(verdict.margin > 0.01 for verdict in expected.values()))
    counts = Counter(verdict.outcome for verdict in expected.values())
    counters = world.counters()
    names = ("received", "collided", "captured", "weak", "deaf", "bit_errors")
    assert {name: counters[name] for name in names} == {name: counts[name] for name in names}
    assert counters["sensed"] == len(expected)
    heard = Counter((h[1], node) for node, listener in enumerate(listeners) for h in listener.heard)
    should = Counter((sent[f].node, node) for (f, node), v in expected.items() if v.outcome == "received")
    assert heard == should
    world.close()


def delivered(points, senders, frames=400, seed=1, **options):
    """Return the share of the frames of node 0 that node 1 receives while `senders` send at the same time."""
    world, _, _ = sinr_world(points, seed, **options)
    world.start()
    hosts = [_kernel.Host(world, node) for node in range(len(points))]
    listeners = [Listener(host) for host in hosts]
    for node, listener in enumerate(listeners):
        world.attach(node, listener)
    for frame in range(frames):
        for node in senders:
            hosts[node].call_later(0.01 * frame, hosts[node].broadcast, Note())
    world.run_until(0.01 * frames + 1)
    return sum(1 for _, sender, _ in listeners[1].heard if sender == 0) / frames


def test_a_frame_at_the_range_is_decoded_with_the_reference_probability():
    """An event of 512 B at the calibrated range: 0.9, unless the preamble threshold is the stricter rule."""
    mode = STANDARDS["802.11g"].basic[12e6]
    assert mode.success_rate(required_snr(mode), REFERENCE_SIZE) == pytest.approx(0.9, abs=1e-6)
    assert delivered([(0, 0), (250, 0)], [0], 2000, basic=12e6) == pytest.approx(0.9, abs=0.02)
    assert delivered([(0, 0), (262, 0)], [0], 500, basic=12e6) < 0.5
    assert delivered([(0, 0), (240, 0)], [0], 500, basic=12e6) > 0.98


def test_a_hidden_terminal_destroys_what_its_victim_hears():
    """A sends to B while C sends, too: C defers if it senses A, and otherwise takes B's frames from A."""
    a, b = (0.0, 0.0), (240.0, 0.0)
    assert delivered([a, b, (540.0, 0.0)], [0]) == 1
    assert delivered([a, b, (540.0, 0.0)], [0, 2]) > 0.85  # in sense range: only equal backoffs collide
    assert delivered([a, b, (560.0, 0.0)], [0, 2]) < 0.05  # hidden: 20 m farther away, and nothing arrives


def test_interference_adds_up():
    """Three senders that sense neither A nor each other: one alone does no harm, all three do."""
    points = [(0.0, 0.0), (230.0, 0.0), (690.0, 0.0), (341.0, 446.0), (341.0, -446.0)]
    for one in (2, 3, 4):
        assert delivered(points, [0, one]) > 0.9
    assert delivered(points, [0, 2, 3, 4]) < 0.5


def test_a_link_at_the_edge_comes_and_goes_with_fading():
    """Without fading a link of 200 m always works and one of 300 m never; Rayleigh fading blurs both."""
    assert delivered([(0, 0), (200, 0)], [0]) == 1
    assert delivered([(0, 0), (300, 0)], [0]) == 0
    near = delivered([(0, 0), (200, 0)], [0], fading=1.0)
    far = delivered([(0, 0), (300, 0)], [0], fading=1.0)
    assert 0.45 < near < 0.9
    assert 0.02 < far < 0.4
    # Nakagami fading with a large shape is nearly none.
    assert delivered([(0, 0), (200, 0)], [0], fading=50.0) > 0.97


@pytest.mark.parametrize(("head_start", "outcome"), [(-0.0003, "received"), (0.0003, "collided")])
def test_interference_at_the_start_hides_a_preamble(head_start, outcome):
    """A ratio of 20.3 dB alone, 19.7 dB beside a distant sender: at a threshold of 20 dB, order decides."""
    options = {"sinr": {"noise": NOISE, "preamble": 100.0}}
    world, _, _ = sinr_world([(0.0, 0.0), (97.8, 0.0), (600.0, 0.0)], 1, **options)
    world.start()
    hosts = [_kernel.Host(world, node) for node in range(3)]
    for node, host in enumerate(hosts):
        world.attach(node, Listener(host))
    hosts[0].call_later(0.01, hosts[0].broadcast, Note())
    hosts[2].call_later(0.01 - head_start, hosts[2].broadcast, Note())
    world.run_until(1.0)
    assert world.counters()[outcome] == 1
    world.close()
