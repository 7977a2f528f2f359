"""Histories of RAFT-CBR that broke a law once, as `roamcast swarm` printed them, shrunken."""

import pytest

from roamcast.testing.swarm.history import read
from roamcast.testing.swarm.judge import judge


def test_raft_cbr_1013_calm():
    # 20000 frames by 30.4 s, the last of them a Subscribe
    history = read(
        '{"seed":1013,"protocol":"raft-cbr","as_bytes":false,"nodes":8,"edges":[[0,1],[1,2],[2,3],[3,4],['
        '4,5],[5,6],[6,7]],"healed":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7]],"links":{"loss":0.1,"dupl'
        'icate":0.2},"end":60.344,"steps":[{"step":"advertise","node":0,"zones":[1,3],"at":1.064},{"step"'
        ':"subscribe","node":1,"zones":[2,4],"at":7.194},{"step":"request","node":5,"zones":[0,4],"at":10'
        ".09}]}"
    )
    assert judge(history) is None


def test_raft_cbr_90011_calm():
    # 20000 frames by 45.6 s, the last of them a Datagram: Nacks for someone who was gone went in circles
    history = read(
        '{"seed":90011,"protocol":"raft-cbr","as_bytes":false,"nodes":4,"edges":[[0,1],[0,2],[0,3],[1,2],'
        '[1,3],[2,3]],"healed":[[0,1],[0,2],[0,3],[1,2],[1,3],[2,3]],"links":{},"end":46.238,"steps":[{"s'
        'tep":"advertise","node":3,"zones":[1,3],"at":0.103},{"step":"disturb","until":29.506,"rule":"ful'
        'l_queue","share":1.0,"at":0.967},{"step":"advertise","node":0,"zones":[0,4],"at":3.923},{"step":'
        '"befall","node":1,"kind":"arrive","at":4.581},{"step":"disturb","until":44.091,"rule":"delay","s'
        'hare":1.0,"seconds":10.0,"at":13.694},{"step":"subscribe","node":1,"zones":[0,4],"at":32.818},{"'
        'step":"publish","node":3,"zone":2,"size":1400,"at":35.67},{"step":"publish","node":3,"zone":3,"s'
        'ize":64,"at":35.67},{"step":"publish","node":3,"zone":1,"size":1400,"at":35.67},{"step":"disturb'
        '","until":52.064,"rule":"duplicate","kinds":[16,37],"share":1.0,"seconds":0.01,"at":38.702},{"st'
        'ep":"befall","node":3,"kind":"radio_off","at":45.238}]}'
    )
    assert judge(history) is None


def test_raft_cbr_40_unbroken():
    # roamcast.wire.errors.WireError: Datagram.payload: XcastEvent.age: 4294967395 is not a whole numb
    history = read(
        '{"seed":40,"protocol":"raft-cbr","nodes":5,"edges":[[0,3],[1,2],[2,4]],"healed":[[0,3],[1,2],[2,'
        '4],[3,4]],"links":{"jitter":0.5,"loss":0.3,"duplicate":0.0,"tries":1},"end":89.613,"steps":[{"st'
        'ep":"forge","to":2,"sender":0,"data":"200000000500000028020000095f3ee5d4b9437fce0002000000050000'
        "0001000200000001000000001600000002000000000400bdf211930000000100fffffffe000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        '000000","about":21474836520,"at":12.593}]}'
    )
    assert judge(history) is None


def test_raft_cbr_2240072871_alive():
    # node 2 sent a Advert at 7.293 s, after its crash
    history = read(
        '{"seed":2240072871,"protocol":"raft-cbr","as_bytes":false,"nodes":3,"edges":[[0,1],[0,2],[1,2]],'
        '"healed":[[0,1],[0,2],[1,2]],"links":{},"end":8.293,"steps":[{"step":"advertise","node":1,"zones'
        '":[0,4],"at":0.413},{"step":"befall","node":2,"kind":"sleep","at":3.504},{"step":"befall","node"'
        ':2,"kind":"crash","at":5.924},{"step":"befall","node":2,"kind":"wake","at":7.293}]}'
    )
    assert judge(history) is None


def test_raft_cbr_4006783047_calm():
    # 20000 frames by 17.7 s, the last of them a Datagram
    history = read(
        '{"seed":4006783047,"protocol":"raft-cbr","as_bytes":false,"nodes":8,"edges":[[0,1],[0,2],[0,3],['
        "0,4],[0,5],[0,6],[0,7],[1,2],[1,3],[1,4],[1,5],[1,7],[2,3],[2,4],[2,5],[2,6],[2,7],[3,4],[3,5],["
        '3,6],[3,7],[4,5],[4,6],[4,7],[5,6],[5,7]],"healed":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,6],[0,7],[1'
        ",2],[1,3],[1,4],[1,5],[1,7],[2,3],[2,4],[2,5],[2,6],[2,7],[3,4],[3,5],[3,6],[3,7],[4,5],[4,6],[4"
        ',7],[5,6],[5,7]],"links":{},"end":74.869,"steps":[{"step":"advertise","node":3,"zones":[0,4],"at'
        '":0.021},{"step":"advertise","node":1,"zones":[0,4],"at":0.188},{"step":"subscribe","node":1,"zo'
        'nes":[0,4],"at":2.186},{"step":"subscribe","node":1,"zones":[0,4],"at":3.9},{"step":"befall","no'
        'de":1,"kind":"sleep","at":4.879},{"step":"publish","node":1,"zone":2,"size":512,"at":5.453},{"st'
        'ep":"publish","node":3,"zone":3,"size":512,"at":7.288},{"step":"publish","node":3,"zone":3,"size'
        '":64,"at":7.288},{"step":"publish","node":3,"zone":3,"size":1400,"at":7.288},{"step":"publish","'
        'node":3,"zone":2,"size":512,"at":7.298},{"step":"subscribe","node":4,"zones":[2,4],"at":7.357},{'
        '"step":"subscribe","node":6,"zones":[0,4],"at":7.87},{"step":"disturb","until":45.687,"rule":"lo'
        'se","senders":[2],"receivers":[4],"at":9.16},{"step":"disturb","until":33.199,"rule":"lose","sen'
        'ders":[2,7],"receivers":[0,5],"share":1.0,"at":10.542},{"step":"disturb","until":70.616,"rule":"'
        'duplicate","share":1.0,"seconds":0.01,"at":10.646},{"step":"befall","node":1,"kind":"sleep","at"'
        ':13.573},{"step":"subscribe","node":6,"zones":[2,2],"at":16.078},{"step":"publish","node":3,"zon'
        'e":3,"size":64,"at":18.463},{"step":"publish","node":3,"zone":2,"size":1400,"at":18.463},{"step"'
        ':"publish","node":3,"zone":4,"size":1400,"at":18.463},{"step":"publish","node":3,"zone":4,"size"'
        ':512,"at":18.483},{"step":"publish","node":1,"zone":0,"size":1400,"at":18.75},{"step":"publish",'
        '"node":1,"zone":2,"size":64,"at":18.75},{"step":"publish","node":1,"zone":2,"size":512,"at":18.7'
        "5}]}"
    )
    assert judge(history) is None


def test_raft_cbr_1117380991_conserved():
    # a Datagram of publication 2 vanished in node 1 at 81.905 s: it was for an earlier incarnation
    history = read(
        '{"seed":1117380991,"protocol":"raft-cbr","as_bytes":false,"nodes":2,"edges":[[0,1]],"healed":[[0'
        ',1]],"links":{},"end":79.5,"steps":[{"step":"subscribe","node":1,"zones":[0,4],"at":1.661},{"ste'
        'p":"advertise","node":0,"zones":[1,3],"at":4.192},{"step":"befall","node":1,"kind":"crash","at":'
        '16.329},{"step":"unsubscribe","node":1,"zones":[0,4],"at":16.919},{"step":"publish","node":0,"zo'
        'ne":1,"size":64,"at":18.846},{"step":"publish","node":0,"zone":1,"size":64,"at":78.981}]}'
    )
    assert judge(history) is None


@pytest.mark.slow
def test_raft_cbr_1117380972_calm():
    # 20000 frames by 1218.8 s, the last of them a DsdvUpdate: 15 to 18 a second, however long
    history = read(
        '{"seed":1117380972,"protocol":"raft-cbr","parameters":{"renew":2.1,"dsdv":{"period":15.0,"missed'
        '_periods":3,"settling":6.0,"settling_memory":0.875,"trigger_gap":1.0,"trigger_on_fresh":true,"li'
        'nk_feedback":false,"start_jitter":3.0,"broadcast_jitter":0.01,"detours":true,"detour_lease":1.0,'
        '"hop_limit":32,"queue_per_destination":5,"destinations":1024,"entries_per_update":120}},"as_bytes":false,"nodes":'
        '9,"edges":[[0,1],[1,2],[3,4],[4,5],[6,7],[7,8],[0,3],[1,4],[2,5],[3,6],[4,7],[5,8]],"healed":[[0'
        ',1],[1,2],[3,4],[4,5],[6,7],[7,8],[0,3],[1,4],[2,5],[3,6],[4,7],[5,8]],"links":{},"end":44.679,"'
        'steps":[{"step":"advertise","node":3,"zones":[1,3],"at":3.074},{"step":"advertise","node":8,"zon'
        'es":[1,3],"at":3.799}]}'
    )
    assert judge(history) is None


def test_raft_cbr_155157154_conserved():
    # a Datagram of publication 17179869187 vanished in node 2 at 80.808 s
    history = read(
        '{"seed":155157154,"protocol":"raft-cbr","parameters":{"chain_limit":2,"dsdv":{"period":15.0,"mis'
        'sed_periods":3,"settling":12.0,"settling_memory":0.875,"trigger_gap":1.0,"trigger_on_fresh":fals'
        'e,"advertise_awaited":true,"link_feedback":true,"start_jitter":2.0,"broadcast_jitter":0.003,"detours"'
        ':true,"detour_lease":1.0,"hop_limit":32,"queue_per_destination":5,"destinations":1024,"entries_per_update":16}},"'
        'cramped":true,"as_bytes":false,"nodes":6,"edges":[[0,1],[1,2],[3,4],[4,5],[0,3],[1,4],[2,5]],"he'
        'aled":[[0,1],[1,2],[3,4],[4,5],[0,3],[1,4],[2,5]],"links":{"jitter":0.02,"loss":0.3,"duplicate":'
        '0.2,"tries":1},"end":79.797,"steps":[{"step":"advertise","node":4,"zones":[0,4],"at":0.992},{"st'
        'ep":"subscribe","node":2,"zones":[0,4],"at":23.124},{"step":"publish","node":4,"zone":1,"size":6'
        '4,"at":49.573},{"step":"publish","node":4,"zone":4,"size":64,"at":74.262},{"step":"publish","nod'
        'e":4,"zone":3,"size":512,"at":78.797}]}'
    )
    assert judge(history) is None


def test_raft_cbr_155157192_calm():
    # 20074 frames by 22.4 s, the last of them a Datagram
    history = read(
        '{"seed":155157192,"protocol":"raft-cbr","parameters":{"dsdv":{"period":22.5,"missed_periods":3,"'
        'settling":6.0,"settling_memory":0.875,"trigger_gap":1.0,"trigger_on_fresh":false,"advertise_awaited":'
        'true,"link_feedback":true,"start_jitter":2.0,"broadcast_jitter":0.01,"detours":false,"detour_lea'
        'se":1.0,"hop_limit":32,"queue_per_destination":5,"destinations":1024,"entries_per_update":120}},"as_bytes":false,'
        '"nodes":2,"edges":[[0,1]],"healed":[[0,1]],"links":{},"end":65.881,"steps":[{"step":"disturb","u'
        'ntil":26.749,"rule":"lose","receivers":[1],"share":1.0,"at":2.08},{"step":"advertise","node":1,"'
        'zones":[0,4],"at":4.319},{"step":"subscribe","node":0,"zones":[1,1],"at":4.694}]}'
    )
    assert judge(history) is None


def test_raft_cbr_2480029455_conserved():
    # a Datagram of publication 12884901889 vanished in node 3 at 74.544 s
    history = read(
        '{"seed":2480029455,"protocol":"raft-cbr","as_bytes":false,"nodes":6,"edges":[[0,4],[0,5],[1,2],['
        '1,4],[1,5],[2,3],[4,5]],"healed":[[0,4],[0,5],[1,2],[1,4],[1,5],[2,3],[4,5]],"links":{},"end":85'
        '.035,"steps":[{"step":"advertise","node":3,"zones":[0,4],"at":4.401},{"step":"subscribe","node":'
        '3,"zones":[2,2],"at":4.863},{"step":"subscribe","node":4,"zones":[1,4],"at":5.171},{"step":"publ'
        'ish","node":2,"zone":1,"size":64,"at":29.193},{"step":"publish","node":2,"zone":1,"size":64,"at"'
        ':29.203000000000003},{"step":"disturb","until":74.356,"rule":"partition","senders":[4,5],"at":46'
        '.12},{"step":"publish","node":3,"zone":2,"size":512,"at":71.663},{"step":"publish","node":2,"zon'
        'e":2,"size":1400,"at":72.007},{"step":"publish","node":3,"zone":4,"size":64,"at":73.526}]}'
    )
    assert judge(history) is None


def test_raft_cbr_40114_wanted():
    # Node 4, in whose name somebody had subscribed, delivered events that it did not want.
    history = read(
        '{"seed":40114,"protocol":"raft-cbr","as_bytes":false,"nodes":7,"edges":[[0,1],[0,2],[1,2],[1,5],'
        '[2,3],[2,5],[2,6],[3,4],[3,5],[3,6],[4,6]],"healed":[[0,1],[0,2],[1,2],[1,5],[2,3],[2,5],[2,6],['
        '3,4],[3,5],[3,6],[4,6]],"links":{},"end":21.2,"steps":[{"step":"advertise","node":5,"zones":[0,4'
        '],"at":0.612},{"step":"subscribe","node":0,"zones":[1,4],"at":5.784},{"step":"replay","to":6,"ch'
        'oice":1804224381,"at":21.109}]}'
    )
    assert judge(history) is None


def test_an_event_after_an_evicted_one_may_wait():
    # the publisher's full table evicted an event, and the later ones wait for it
    history = read(
        '{"seed":3967470444,"protocol":"raft-cbr","parameters":{"subscribers":3,"dsdv":{"period":15.0,"mi'
        'ssed_periods":3,"settling":6.0,"settling_memory":0.875,"settle_anew":true,"trigger_gap":1.0,"tri'
        'gger_on_fresh":false,"advertise_awaited":false,"link_feedback":true,"start_jitter":3.0,"broadcas'
        't_jitter":0.02,"detours":true,"detour_lease":1.0,"hop_limit":3,"queue_per_destination":5,"queue_'
        'timeout":30.0,"destinations":2,"entries_per_update":2}},"cramped":true,"as_bytes":false,"nodes":'
        '5,"edges":[[0,1],[0,2],[0,3],[0,4],[1,2],[1,3],[1,4],[2,3],[2,4],[3,4]],"healed":[[0,1],[0,2],[0'
        ',3],[0,4],[1,2],[1,3],[1,4],[2,3],[2,4],[3,4]],"links":{},"end":27.872,"steps":[{"step":"subscri'
        'be","node":3,"zones":[1,4],"at":0.38},{"step":"advertise","node":1,"zones":[1,3],"at":3.673},{"s'
        'tep":"subscribe","node":2,"zones":[0,4],"at":9.163},{"step":"publish","node":1,"zone":1,"size":6'
        '4,"at":20.303},{"step":"publish","node":1,"zone":3,"size":512,"at":20.323},{"step":"request","no'
        'de":0,"zones":[0,4],"at":21.13},{"step":"publish","node":1,"zone":2,"size":512,"at":23.617},{"st'
        'ep":"publish","node":1,"zone":2,"size":1400,"at":23.617},{"step":"publish","node":1,"zone":2,"si'
        'ze":512,"at":23.617},{"step":"publish","node":1,"zone":2,"size":64,"at":23.627000000000002},{"st'
        'ep":"subscribe","node":4,"zones":[3,4],"at":26.872}]}'
    )
    assert judge(history) is None


HELD = (
    '{"seed":7310216,"protocol":"raft-cbr","parameters":{"dsdv":{"period":22.5,"missed_periods":3,"settli'
    'ng":6.0,"settling_memory":0.875,"settle_anew":true,"trigger_gap":1.5,"trigger_on_fresh":false,"adver'
    'tise_awaited":false,"link_feedback":false,"start_jitter":4.0,"broadcast_jitter":0.01,"detours":false'
    ',"detour_lease":1.5,"hop_limit":1,"queue_per_destination":5,"queue_timeout":30.0,"destinations":16,"'
    'entries_per_update":1}},"cramped":true,"as_bytes":false,"nodes":6,"edges":[[0,1],[0,2],[0,3],[1,3],['
    '1,4],[2,3],[3,4],[3,5]],"healed":[[0,1],[0,2],[0,3],[1,3],[1,4],[2,3],[3,4],[3,5]],"links":{},"end":'
    '73.2,"steps":[{"step":"advertise","node":4,"zones":[0,4],"at":0.702},{"step":"request","node":0,"zon'
    'es":[1,1],"at":1.613},{"step":"advertise","node":3,"zones":[0,4],"at":2.765},{"step":"join","a":0,"b'
    '":4,"at":46.0}]}'
)


def test_an_event_may_wait_for_a_publisher_beyond_the_hop_limit():
    # the withdrawal of a request ended at the hop limit, so the publisher never acknowledged it
    assert judge(read(HELD)) is None


def test_an_evicted_subscription_returns_with_a_new_version():
    # with publishers = 1 a forgotten version was counted again, and the publisher never acknowledged it
    history = read(
        '{"seed":627460889,"protocol":"raft-cbr","parameters":{"publishers":1},"cramped":true,"as_bytes":'
        'false,"nodes":6,"edges":[[0,1],[0,2],[0,3],[0,4],[0,5],[1,2],[1,3],[1,4],[1,5],[2,3],[2,5],[3,4]'
        ',[3,5],[4,5]],"healed":[[0,1],[0,2],[0,3],[0,4],[0,5],[1,2],[1,3],[1,4],[1,5],[2,3],[2,5],[3,4],'
        '[3,5],[4,5]],"links":{},"end":62.2,"steps":[{"step":"place","node":2,"x":271.23306799564534,"y":'
        '9.434176982892902,"vx":-7.683622511061912,"vy":6.400151959719601,"at":0.0},{"step":"place","node'
        '":3,"x":43.86782716491826,"y":55.38863834072445,"vx":7.782418079497674,"vy":6.279647190400724,"a'
        't":0.0},{"step":"place","node":4,"x":73.00118806625942,"y":22.906477629982618,"vx":9.88425328712'
        '469,"vy":1.5170817235616398,"at":0.0},{"step":"place","node":5,"x":43.41115963593645,"y":147.092'
        '46968131623,"vx":9.724548103871015,"vy":-2.3309148795051775,"at":0.0},{"step":"subscribe","node"'
        ':5,"zones":[0,0],"at":0.713},{"step":"join","a":2,"b":5,"at":1.0},{"step":"advertise","node":2,"'
        'zones":[0,4],"at":2.198},{"step":"advertise","node":0,"zones":[0,4],"at":3.413},{"step":"befall"'
        ',"node":0,"kind":"sleep","at":4.5},{"step":"join","a":0,"b":1,"at":5.0},{"step":"join","a":0,"b"'
        ':3,"at":5.0},{"step":"befall","node":0,"kind":"sleep","at":5.355},{"step":"join","a":0,"b":2,"at'
        '":6.0},{"step":"disturb","until":46.892,"rule":"lose","senders":[3],"share":0.4,"at":6.022},{"st'
        'ep":"publish","node":2,"zone":4,"size":64,"at":6.974},{"step":"join","a":0,"b":4,"at":7.0},{"ste'
        'p":"subscribe","node":5,"zones":[3,4],"at":9.488},{"step":"request","node":4,"zones":[3,3],"at":'
        '10.578},{"step":"befall","node":4,"kind":"sleep","at":22.566},{"step":"place","node":2,"x":87.01'
        '561042500082,"y":162.87999246744056,"vx":-7.291014465560169,"vy":6.844056404135808,"at":24.0}]}'
    )
    assert judge(history) is None


def test_events_of_an_evicted_subscription_are_dropped():
    # with `publishers` 1 two subscriptions evicted each other, and buffered events waited for ever
    history = read(
        '{"seed":829538736,"protocol":"raft-cbr","parameters":{"publishers":1,"dsdv":{"period":7.5,"misse'
        'd_periods":3,"settling":6.0,"settling_memory":0.2625,"settle_anew":true,"trigger_gap":1.0,"trigg'
        'er_on_fresh":true,"advertise_awaited":false,"link_feedback":false,"start_jitter":4.0,"broadcast_'
        'jitter":0.01,"detours":false,"detour_lease":0.3,"hop_limit":16,"queue_per_destination":5,"queue_'
        'timeout":30.0,"destinations":2,"entries_per_update":1}},"cramped":true,"as_bytes":false,"nodes":'
        '9,"edges":[[0,1],[1,2],[3,4],[4,5],[6,7],[7,8],[0,3],[1,4],[2,5],[3,6],[4,7],[5,8]],"healed":[[0'
        ',1],[1,2],[3,4],[4,5],[6,7],[7,8],[0,3],[1,4],[2,5],[3,6],[4,7],[5,8]],"links":{},"end":31.218,"'
        'steps":[{"step":"disturb","until":23.419,"rule":"lose","senders":[5],"receivers":[8],"at":1.919}'
        ',{"step":"advertise","node":4,"zones":[0,4],"at":2.39},{"step":"advertise","node":2,"zones":[1,3'
        '],"at":2.893},{"step":"unsubscribe","node":7,"zones":[0,4],"at":18.369},{"step":"publish","node"'
        ':2,"zone":3,"size":64,"at":26.301},{"step":"publish","node":4,"zone":0,"size":1400,"at":28.125},'
        '{"step":"subscribe","node":7,"zones":[0,4],"at":30.218}]}'
    )
    assert judge(history) is None


def test_subscriptions_double_in_a_loop_of_forged_routes():
    # links duplicated every frame, and the route to a mute publisher led in a circle
    history = read(
        '{"seed":3083364519,"protocol":"raft-cbr","parameters":{"expire":22.5,"dsdv":{"period":15.0,"miss'
        'ed_periods":3,"settling":6.0,"settling_memory":0.2625,"settle_anew":true,"trigger_gap":1.0,"trig'
        'ger_on_fresh":true,"advertise_awaited":false,"link_feedback":false,"start_jitter":2.0,"broadcast'
        '_jitter":0.01,"detours":false,"detour_lease":1.0,"hop_limit":32,"queue_per_destination":5,"queue'
        '_timeout":15.0,"destinations":1024,"entries_per_update":120}},"as_bytes":false,"nodes":6,"edges"'
        ':[[0,1],[0,2],[0,3],[0,4],[0,5],[1,2],[1,4],[2,3],[2,4],[2,5],[3,4],[3,5]],"healed":[[0,1],[0,2]'
        ',[0,3],[0,4],[0,5],[1,2],[1,4],[2,3],[2,4],[2,5],[3,4],[3,5]],"links":{},"end":46.0,"steps":[{"s'
        'tep":"disturb","until":46.0,"rule":"lose","senders":[1],"receivers":[0,2,3,4,5],"at":0.0},{"step'
        '":"advertise","node":1,"zones":[0,4],"at":1.364},{"step":"replay","to":2,"choice":1464966690,"at'
        '":1.8},{"step":"advertise","node":2,"zones":[0,4],"at":1.917},{"step":"forge","to":2,"sender":3,'
        '"data":"2600000001ff0000000200000001b2002f438de90000","at":5.59},{"step":"disturb","until":23.16'
        '7,"rule":"duplicate","share":1.0,"seconds":0.01,"at":6.5},{"step":"subscribe","node":3,"zones":['
        '3,3],"at":9.591}]}'
    )
    assert judge(history) is None
