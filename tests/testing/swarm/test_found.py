"""Histories that broke a law once, as `roamcast swarm` printed them, shrunken; RAFT-CBR has its own file."""

import pytest

from roamcast.testing.swarm.history import read
from roamcast.testing.swarm.judge import judge


def test_cbr_13_bounded():
    # forwarded of node 1 held 2 at 5.0 s, and its limit is 1
    history = read(
        '{"seed":13,"protocol":"cbr","parameters":{"covering":true,"subscriptions":1},"cramped":true,"nod'
        'es":2,"edges":[[0,1]],"healed":[[0,1]],"end":20.0,"steps":[{"step":"advertise","node":0,"zones":'
        '[0,4],"at":1.0},{"step":"subscribe","node":1,"zones":[0,0],"at":2.0},{"step":"subscribe","node":'
        '1,"zones":[3,3],"at":2.0}]}'
    )
    assert judge(history) is None


def test_dsdv_unicast_12_once():
    # node 4 got publication 8589934593 at 49.555 s and again at 66.513 s
    history = read(
        '{"seed":12,"protocol":"dsdv-unicast","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,3],[3,4]'
        '],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"end":50.551,"steps":[{"step":"disturb","until":'
        '58.717,"rule":"duplicate","share":0.2,"seconds":20.0,"at":20.661},{"step":"subscribe","node":4,"'
        'zones":[0,4],"at":48.732},{"step":"publish","node":2,"zone":4,"size":64,"at":49.551}]}'
    )
    assert judge(history) is None


def test_cbr_4006783058_promised():
    # node 1 did not get note(zone=0) (publication 8589934593) of node 2, published at 100.984 s in th
    history = read(
        '{"seed":4006783058,"protocol":"cbr","parameters":{"most_covering":true},"as_bytes":false,"nodes"'
        ':3,"edges":[[1,2],[0,1]],"healed":[[1,2],[0,1]],"links":{},"end":5.984,"steps":[{"step":"adverti'
        'se","node":2,"zones":[0,4],"at":0.478},{"step":"advertise","node":0,"zones":[0,4],"at":3.944},{"'
        'step":"subscribe","node":1,"zones":[0,4],"at":4.823},{"step":"subscribe","node":2,"zones":[0,4],'
        '"at":4.984}]}'
    )
    assert judge(history) is None


def test_aodv_unicast_1878505998_promised():
    # node 1 did not get note(zone=0) (publication 17179869186) of node 4, published at 324.170 s in t
    history = read(
        '{"seed":1878505998,"protocol":"aodv-unicast","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,'
        '3],[3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"end":24.17,"steps":[{"step":"advertise"'
        ',"node":4,"zones":[0,4],"at":3.751},{"step":"subscribe","node":1,"zones":[0,4],"at":3.916},{"ste'
        'p":"publish","node":4,"zone":2,"size":512,"at":8.239},{"step":"forge","to":2,"sender":3,"data":"'
        '34000500000003fffffffe00000004210f6d8d000000000000000000000003b84ae79d000000050000002100","at":2'
        "3.17}]}"
    )
    assert judge(history) is None


def test_aodv_unicast_1117380995_promised():
    # node 0 did not get note(zone=0) (publication 8589934593) of node 2, published at 312.881 s in th
    history = read(
        '{"seed":1117380995,"protocol":"aodv-unicast","parameters":{"threshold_first":true},"as_bytes":fa'
        'lse,"nodes":3,"edges":[[0,1],[1,2]],"healed":[[0,1],[1,2]],"links":{},"end":12.881,"steps":[{"st'
        'ep":"advertise","node":2,"zones":[0,4],"at":3.577},{"step":"subscribe","node":0,"zones":[0,4],"a'
        't":11.881}]}'
    )
    assert judge(history) is None


@pytest.mark.slow
def test_gpsr_unicast_1117381056_calm():
    # 25014 frames by 937.9 s, the last of them a Beacon: 27 a second, from first to last
    history = read(
        '{"seed":1117381056,"protocol":"gpsr-unicast","parameters":{"queue_timeout":60.0,"announce":3.0},"as_bytes'
        '":false,"nodes":8,"edges":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,6],[0,7],[1,2],[1,3],[1,4],[1,5],[1,'
        '6],[1,7],[2,3],[2,4],[2,6],[3,5],[3,6],[4,5],[4,6],[4,7],[5,6],[5,7],[6,7]],"healed":[[0,1],[0,2'
        "],[0,3],[0,4],[0,5],[0,6],[0,7],[1,2],[1,3],[1,4],[1,5],[1,6],[1,7],[2,3],[2,4],[2,6],[3,5],[3,6"
        '],[4,5],[4,6],[4,7],[5,6],[5,7],[6,7]],"links":{},"end":28.1,"steps":[{"step":"place","node":3,"'
        'x":-54.42679680526171,"y":-33.21077698539092,"at":0.0},{"step":"place","node":4,"x":152.70500438'
        '474355,"y":108.49849006413628,"at":0.0},{"step":"place","node":5,"x":-51.42891945224855,"y":202.'
        '76525036949946,"at":0.0},{"step":"place","node":6,"x":-49.32550702377104,"y":89.7326841594294,"a'
        't":0.0},{"step":"place","node":7,"x":-6.615072110835278,"y":215.722016241154,"at":0.0},{"step":"'
        'place","node":0,"x":0.0,"y":0.0,"vx":26.87758627973366,"vy":13.326490752462666,"at":0.0},{"step"'
        ':"place","node":1,"x":30.77920191604781,"y":56.303854185982885,"vx":29.753387631039285,"vy":3.83'
        '8739959559467,"at":0.0},{"step":"place","node":2,"x":96.10819740605554,"y":-12.250526761495962,"'
        'vx":19.112191238084346,"vy":23.124103141071046,"at":0.0}]}'
    )
    assert judge(history) is None


def test_pubsub_odmrp_2901556511_promised():
    # node 1 did not get note(zone=4) (publication 17179869194) of node 4, published at 279.060 s in t
    history = read(
        '{"seed":2901556511,"protocol":"pubsub-odmrp","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,'
        '3],[3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"end":25.06,"steps":[{"step":"advertise"'
        ',"node":4,"zones":[0,4],"at":1.683},{"step":"subscribe","node":1,"zones":[0,4],"at":4.077},{"ste'
        'p":"forge","to":2,"sender":0,"data":"4d0000000400000010010102000e5f3ee5d4b9437fce010100020101010'
        '00000040000ffff00","at":4.265},{"step":"publish","node":4,"zone":3,"size":512,"at":21.356},{"ste'
        'p":"publish","node":4,"zone":2,"size":1400,"at":21.356},{"step":"publish","node":4,"zone":4,"siz'
        'e":512,"at":21.366000000000003},{"step":"publish","node":4,"zone":1,"size":1400,"at":23.364},{"s'
        'tep":"publish","node":4,"zone":2,"size":512,"at":24.06}]}'
    )
    assert judge(history) is None


def test_odmrp_2901556535_promised():
    # node 0 did not get note(zone=3) (publication 30064771076) of node 7, published at 411.948 s in t
    history = read(
        '{"seed":2901556535,"protocol":"odmrp","parameters":{"piggyback":false},"as_bytes":false,"nodes":'
        '8,"edges":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7]],"healed":[[0,1],[1,2],[2,3],[3,4],[4,5],[5'
        ',6],[6,7]],"links":{},"end":8.948,"steps":[{"step":"advertise","node":7,"zones":[0,4],"at":1.571'
        '},{"step":"subscribe","node":0,"zones":[3,4],"at":7.948}]}'
    )
    assert judge(history) is None


def test_clone_2919987772_calm():
    # 20379 frames by 73.0 s, the last of them a CommunityWish
    history = read(
        '{"seed":2919987772,"protocol":"clone","as_bytes":false,"nodes":7,"edges":[[0,1],[0,2],[0,3],[0,4'
        "],[0,5],[0,6],[1,2],[1,3],[1,4],[1,5],[1,6],[2,3],[2,4],[2,5],[2,6],[3,4],[3,5],[3,6],[4,5],[4,6"
        '],[5,6]],"healed":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,6],[1,2],[1,3],[1,4],[1,5],[1,6],[2,3],[2,4]'
        ',[2,5],[2,6],[3,4],[3,5],[3,6],[4,5],[4,6],[5,6]],"links":{},"end":75.3,"steps":[{"step":"place"'
        ',"node":0,"x":0.0,"y":0.0,"at":0.0},{"step":"place","node":1,"x":-55.01420965950424,"y":71.81951'
        '660417084,"at":0.0},{"step":"place","node":2,"x":-73.39166396969615,"y":-5.372614837451427,"at":'
        '0.0},{"step":"place","node":3,"x":103.46646863581981,"y":-96.12204169964491,"at":0.0},{"step":"p'
        'lace","node":4,"x":40.8435943385695,"y":27.637684832062163,"at":0.0},{"step":"place","node":5,"x'
        '":44.88824231590035,"y":78.15261905528995,"at":0.0},{"step":"place","node":6,"x":64.563559020867'
        '53,"y":-108.97063855476323,"at":0.0},{"step":"subscribe","node":0,"zones":[0,4],"at":3.213},{"st'
        'ep":"subscribe","node":0,"zones":[0,4],"at":9.998},{"step":"disturb","until":31.532,"rule":"dela'
        'y","share":0.2,"seconds":0.05,"at":10.52},{"step":"befall","node":6,"kind":"arrive","at":11.541}'
        ',{"step":"publish","node":0,"zone":2,"size":1400,"at":12.489},{"step":"subscribe","node":4,"zone'
        's":[3,4],"at":16.768},{"step":"befall","node":2,"kind":"crash","at":16.84},{"step":"befall","nod'
        'e":5,"kind":"crash","at":19.593},{"step":"disturb","until":72.92,"rule":"duplicate","share":1.0,'
        '"seconds":1.0,"at":39.277},{"step":"disturb","until":63.515,"rule":"lose","kinds":[87,92],"recei'
        'vers":[5],"share":1.0,"at":39.857},{"step":"befall","node":5,"kind":"crash","at":43.686},{"step"'
        ':"befall","node":2,"kind":"start","at":46.442},{"step":"befall","node":2,"kind":"start","at":49.'
        '098},{"step":"befall","node":1,"kind":"wake","at":50.977},{"step":"disturb","until":59.199,"rule'
        '":"lose","kinds":[89,93],"senders":[0],"receivers":[1],"share":0.4,"at":55.271},{"step":"disturb'
        '","until":74.822,"rule":"full_queue","senders":[0],"share":1.0,"at":60.247},{"step":"befall","no'
        'de":5,"kind":"start","at":62.944},{"step":"befall","node":5,"kind":"wake","at":66.309},{"step":"'
        'publish","node":0,"zone":0,"size":64,"at":68.157},{"step":"unsubscribe","node":6,"zones":[3,4],"'
        'at":68.72},{"step":"subscribe","node":6,"zones":[3,4],"at":69.454}]}'
    )
    assert judge(history) is None


def test_dsdv_unicast_2480029422_conserved():
    # a Datagram of publication 12884901891 vanished in node 4 at 69.479 s
    history = read(
        '{"seed":2480029422,"protocol":"dsdv-unicast","parameters":{"trigger_on_fresh":true,"start_jitter'
        '":4.0,"detours":true,"destinations":3},"cramped":true,"as_bytes":false,"nodes":5,"edges":[[0,1],'
        '[1,2],[2,3],[3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{"jitter":0.5,"loss":0.3,"duplicat'
        'e":0.0},"end":86.303,"steps":[{"step":"subscribe","node":3,"zones":[0,4],"at":1.791},{"step":"su'
        'bscribe","node":2,"zones":[0,4],"at":2.285},{"step":"subscribe","node":0,"zones":[3,4],"at":2.56'
        '8},{"step":"subscribe","node":1,"zones":[1,4],"at":9.013},{"step":"publish","node":1,"zone":3,"s'
        'ize":64,"at":15.307},{"step":"publish","node":3,"zone":3,"size":1400,"at":22.062},{"step":"publi'
        'sh","node":3,"zone":1,"size":64,"at":24.451},{"step":"publish","node":3,"zone":2,"size":64,"at":'
        '38.474},{"step":"publish","node":3,"zone":3,"size":512,"at":52.824},{"step":"publish","node":1,"'
        'zone":2,"size":512,"at":72.008}]}'
    )
    assert judge(history) is None


def test_dsdv_unicast_2480029476_promised():
    # node 0 did not get note(zone=0) (publication 8589934593) of node 2, published at 95.996 s in the
    # The wait for a route is as short as the period, or by the longest duration all would have settled.
    history = read(
        '{"seed":2480029476,"protocol":"dsdv-unicast","parameters":{"period":7.5,"queue_timeout":7.5},"as_'
        'bytes":false,"nodes":3,"edges":[],"healed":[[0,1],[1,2]],"links":{},"end":50.996,"steps":[{"step'
        '":"advertise","node":2,"zones":[0,4],"at":1.038},{"step":"subscribe","node":0,"zones":[0,4],"at"'
        ":49.996}]}"
    )
    assert judge(history) is None


def test_a_forged_reply_is_not_kept_alive_by_messages_of_its_destination():
    # a forged route of one hop over another neighbour was extended by each message of its destination
    history = read(
        '{"seed":3496740793,"protocol":"aodv-unicast","as_bytes":false,"nodes":7,"edges":[[0,1],[1,2],[2,'
        '3],[3,4],[4,5],[5,6]],"healed":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6]],"links":{"jitter":0.02,"los'
        's":0.3,"duplicate":0.2},"end":71.599,"steps":[{"step":"subscribe","node":1,"zones":[2,2],"at":2.'
        '683},{"step":"advertise","node":3,"zones":[0,4],"at":3.264},{"step":"subscribe","node":0,"zones"'
        ':[0,0],"at":6.081},{"step":"publish","node":3,"zone":2,"size":512,"at":29.644},{"step":"replay",'
        '"to":2,"choice":2980029767,"at":70.599}]}'
    )
    assert judge(history) is None


def test_a_request_does_not_shorten_the_route_to_its_origin():
    # a route request replaced the lifetime of the route to its origin by a shorter one
    history = read(
        '{"seed":3496740797,"protocol":"aodv-unicast","parameters":{"refresh_both_ways":false},"as_bytes"'
        ':false,"nodes":4,"edges":[[0,2],[1,3],[0,1]],"healed":[[0,2],[1,3],[0,1]],"links":{},"end":17.46'
        '8,"steps":[{"step":"advertise","node":3,"zones":[0,4],"at":4.582},{"step":"advertise","node":2,"'
        'zones":[0,4],"at":4.794},{"step":"subscribe","node":0,"zones":[1,4],"at":13.931},{"step":"subscr'
        'ibe","node":3,"zones":[4,4],"at":16.468}],"later":[{"step":"disturb","until":60.0,"rule":"duplic'
        'ate","share":1.0,"seconds":0.01,"at":0.0}]}'
    )
    assert judge(history) is None


def test_a_probe_event_that_waits_may_be_lost_to_later_faults():
    # ODMRP without piggyback held a probe event until mild faults had begun, which lost its copies
    history = read(
        '{"seed":825048,"protocol":"odmrp","parameters":{"reply_aggregation":0.05,"piggyback":false},"as_'
        'bytes":false,"nodes":8,"edges":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,7],[1,3],[1,4],[1,5],[1,6],[1,7'
        '],[3,5],[4,5],[4,6],[4,7],[5,7],[6,7]],"healed":[[0,1],[0,2],[0,3],[0,4],[0,5],[0,7],[1,3],[1,4]'
        ',[1,5],[1,6],[1,7],[3,5],[4,5],[4,6],[4,7],[5,7],[6,7]],"links":{},"end":41.975,"steps":[{"step"'
        ':"advertise","node":1,"zones":[0,4],"at":0.367},{"step":"subscribe","node":2,"zones":[3,3],"at":'
        '40.975}],"later":[{"step":"disturb","until":60.0,"rule":"lose","kinds":[73,75],"share":0.3,"at":'
        "0.0}]}"
    )
    assert judge(history) is None


def test_a_route_may_expire_while_a_frame_is_delayed():
    # an AODV route expired at a relay during the 14 ms by which the link delayed the event
    history = read(
        '{"seed":825051,"protocol":"aodv-unicast","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,3],['
        '3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"end":5.919,"steps":[{"step":"advertise","no'
        'de":4,"zones":[0,4],"at":0.204},{"step":"subscribe","node":1,"zones":[3,3],"at":0.323},{"step":"'
        'advertise","node":2,"zones":[0,4],"at":1.327},{"step":"advertise","node":0,"zones":[0,4],"at":4.'
        '919}],"later":[{"step":"disturb","until":60.0,"rule":"lose","kinds":[2],"share":0.3,"at":0.0},{"'
        'step":"disturb","until":60.0,"rule":"delay","share":0.2,"seconds":0.02,"at":0.0}]}'
    )
    assert judge(history) is None


def test_one_lost_frame_does_not_end_a_neighbourhood():
    # GPSR sent beacons up to two and a half intervals after the last frame, and a neighbour was lost
    history = read(
        '{"seed":7310211,"protocol":"gpsr-unicast","parameters":{"silence":3.1,"perimeter":false},"as_byt'
        'es":false,"nodes":5,"edges":[[0,1],[0,2],[0,4],[1,4],[2,3]],"healed":[[0,1],[0,2],[0,4],[1,4],[2'
        ',3]],"links":{},"end":8.022,"steps":[{"step":"place","node":0,"x":0.0,"y":0.0,"at":0.0},{"step":'
        '"place","node":1,"x":-155.98609695483094,"y":140.26027568399988,"at":0.0},{"step":"place","node"'
        ':2,"x":191.25167549216334,"y":-104.38379451218843,"at":0.0},{"step":"place","node":3,"x":392.748'
        '57428757514,"y":-212.95743347159893,"at":0.0},{"step":"place","node":4,"x":51.26736946937169,"y"'
        ':105.35905412731437,"at":0.0},{"step":"advertise","node":1,"zones":[0,4],"at":1.583},{"step":"ad'
        'vertise","node":0,"zones":[0,4],"at":3.0},{"step":"subscribe","node":3,"zones":[2,4],"at":7.022}'
        '],"later":[{"step":"disturb","until":60.0,"rule":"lose","kinds":[2],"share":0.3,"at":0.0}]}'
    )
    assert judge(history) is None


def test_clone_1674539977_promised_and_undisturbed():
    # greedy forwarding alone: no neighbour of node 2 is nearer to node 0
    history = read(
        '{"seed":1674539977,"protocol":"clone","parameters":{"gpsr":{"beacon":2.0,"silence":9.0,"implicit'
        '":false,"planar":"gabriel","perimeter":false,"restart":false,"hop_limit":32,"neighbours":256,"qu'
        'eue_limit":64,"queue_timeout":30.0}},"as_bytes":false,"nodes":3,"edges":[[0,1],[1,2]],"healed":['
        '[0,1],[1,2]],"links":{},"end":29.1,"steps":[{"step":"place","node":2,"x":245.6396695694723,"y":-'
        '77.38566566884191,"at":0.0},{"step":"place","node":0,"x":0.0,"y":0.0,"vx":8.743577303852266,"vy"'
        ':4.852819379655453,"at":0.0},{"step":"place","node":1,"x":23.237948701603024,"y":170.40941001377'
        '112,"vx":4.283954552564846,"vy":9.03591353386911,"at":0.0},{"step":"advertise","node":2,"zones":'
        '[1,3],"at":4.206},{"step":"subscribe","node":0,"zones":[0,4],"at":28.846}],"later":[{"step":"dis'
        'turb","until":60.0,"rule":"duplicate","share":0.2,"seconds":20.0,"at":0.0}]}'
    )
    assert judge(history) is None


def test_mild_faults_begin_when_the_probe_events_have_arrived():
    # a relay waits before it repeats, and mild faults lost its copy of a probe event
    history = read(
        '{"seed":829538864,"protocol":"p-pubs","as_bytes":false,"nodes":7,"edges":[[0,1],[1,2],[2,3],[3,4'
        '],[4,5],[5,6]],"healed":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6]],"links":{},"end":36.048,"steps":[{'
        '"step":"publish","node":1,"zone":0,"size":1400,"at":3.064},{"step":"disturb","until":38.636,"rul'
        'e":"lose","receivers":[1,3],"share":0.1,"at":4.159},{"step":"advertise","node":6,"zones":[0,4],"'
        'at":4.322},{"step":"subscribe","node":0,"zones":[4,4],"at":9.478},{"step":"publish","node":1,"zo'
        'ne":0,"size":64,"at":35.048}],"later":[{"step":"disturb","until":60.0,"rule":"lose","kinds":[64]'
        ',"share":0.1,"at":0.0}]}'
    )
    assert judge(history) is None


def test_links_may_double_a_forged_datagram_in_a_loop_of_forged_routes():
    # a forged datagram with 152 hops, and links that duplicated every frame
    history = read(
        '{"seed":829538865,"protocol":"dsdv-unicast","as_bytes":false,"nodes":3,"edges":[[0,1],[0,2],[1,2'
        ']],"healed":[[0,1],[0,2],[1,2]],"links":{},"end":33.988,"steps":[{"step":"forge","to":2,"sender"'
        ':0,"data":"310004000000070b0000000000000001000000000100000001f90000000100000005f95f7a3d910000000'
        '00000000000","at":1.393},{"step":"disturb","until":43.945,"rule":"duplicate","kinds":[2,48],"sha'
        're":1.0,"seconds":1.0,"at":6.541},{"step":"forge","to":1,"sender":3,"data":"30000000070000000799'
        "020000000400000028020000095f3ee5d4b9437fce000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        '00000000000000000000000000000000000000000000","about":17179869224,"at":32.988}]}'
    )
    assert judge(history) is None


def test_a_route_may_expire_sooner_by_a_faster_clock():
    # the clock of node 1 gained 2 % on that of node 0, and its route expired first
    history = read(
        '{"seed":829538924,"protocol":"aodv-unicast","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,3'
        '],[3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"clocks":[{"start":3600.0,"rate":0.99},{"'
        'start":0.0,"rate":1.01},{"start":1.5,"rate":1.0001},{"start":0.0,"rate":0.9999},{"start":3600.0,'
        '"rate":1.0}],"end":89.083,"steps":[{"step":"advertise","node":2,"zones":[0,4],"at":0.866},{"step'
        '":"advertise","node":3,"zones":[0,4],"at":2.811},{"step":"advertise","node":0,"zones":[0,4],"at"'
        ':3.262},{"step":"advertise","node":4,"zones":[0,4],"at":3.654},{"step":"subscribe","node":4,"zon'
        'es":[0,4],"at":58.894},{"step":"publish","node":0,"zone":2,"size":64,"at":88.083}],"later":[{"st'
        'ep":"disturb","until":60.0,"rule":"duplicate","share":0.2,"seconds":0.01,"at":0.0}]}'
    )
    assert judge(history) is None


def test_a_lost_join_request_may_leave_later_events_without_a_route():
    # node 2 lost the join request of publisher 4 that carried an event, and with it the route of the next one
    history = read(
        '{"seed":3075378620,"protocol":"odmrp","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,3],[3,4'
        ']],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{},"end":48.251999999999995,"steps":[{"step":"adve'
        'rtise","node":3,"zones":[0,4],"at":2.606},{"step":"advertise","node":4,"zones":[0,4],"at":3.362}'
        ',{"step":"advertise","node":2,"zones":[0,4],"at":4.54},{"step":"subscribe","node":3,"zones":[0,0'
        '],"at":5.176},{"step":"subscribe","node":0,"zones":[0,0],"at":7.599},{"step":"subscribe","node":'
        '2,"zones":[0,4],"at":9.245}],"later":[{"step":"disturb","until":60.0,"rule":"delay","share":1.0,'
        '"seconds":0.02,"at":0.0},{"step":"disturb","until":60.0,"rule":"lose","kinds":[73,75],"share":0.'
        '3,"at":0.0}]}'
    )
    assert judge(history) is None


def test_a_destination_exceeds_a_forged_number_half_a_circle_away():
    # neither 2^31 nor 0 was newer, so node 3 refused every reply of node 2
    history = read(
        '{"seed":3075378793,"protocol":"aodv-unicast","as_bytes":false,"nodes":5,"edges":[[1,2],[3,4],[0,'
        '1],[1,3],[2,4],[0,2]],"healed":[[1,2],[3,4],[0,1],[1,3],[2,4],[0,2]],"links":{},"end":20.467,"st'
        'eps":[{"step":"advertise","node":1,"zones":[0,4],"at":0.392},{"step":"subscribe","node":2,"zones'
        '":[0,4],"at":0.808},{"step":"advertise","node":2,"zones":[1,3],"at":1.543},{"step":"advertise","'
        'node":3,"zones":[0,4],"at":4.105},{"step":"publish","node":3,"zone":4,"size":1400,"at":14.669},{'
        '"step":"subscribe","node":3,"zones":[0,4],"at":17.22},{"step":"replay","to":3,"choice":249499081'
        '1,"at":19.467}]}'
    )
    assert judge(history) is None


def test_a_delayed_copy_may_wait_while_all_nodes_leave():
    # a duplicate of a forgotten event arrived 27 ms before the end; the router waits up to 0.25 s
    history = read(
        '{"seed":3075378927,"protocol":"p-pubs","parameters":{"flood_limit":1},"cramped":true,"as_bytes":'
        'false,"nodes":3,"edges":[[0,1],[1,2]],"healed":[[0,1],[1,2]],"links":{},"end":3.416,"steps":[{"s'
        'tep":"advertise","node":1,"zones":[0,4],"at":1.49},{"step":"advertise","node":0,"zones":[1,3],"a'
        't":2.416}],"later":[{"step":"disturb","until":60.0,"rule":"duplicate","share":1.0,"seconds":20.0'
        ',"at":0.0},{"step":"disturb","until":60.0,"rule":"lose","kinds":[64],"share":0.1,"at":0.0}]}'
    )
    assert judge(history) is None


def test_real_events_double_in_a_loop_of_forged_routes():
    # links duplicated every frame, and a forged route made two nodes send datagrams to each other
    history = read(
        '{"seed":759941696,"protocol":"aodv-unicast","as_bytes":false,"nodes":5,"edges":[[0,1],[1,2],[2,3'
        '],[3,4]],"healed":[[0,1],[1,2],[2,3],[3,4]],"links":{"jitter":0.0,"loss":0.0,"duplicate":0.2},"e'
        'nd":18.411,"steps":[{"step":"forge","to":4,"sender":3,"data":"330f4900000001f26e9e1c6fd6b6f7ffff'
        'ffff0000000000","at":1.398},{"step":"subscribe","node":1,"zones":[0,4],"at":2.786},{"step":"dist'
        'urb","until":22.351,"rule":"duplicate","kinds":[50,51],"share":1.0,"seconds":20.0,"at":3.93},{"s'
        'tep":"befall","node":1,"kind":"sleep","at":8.245},{"step":"disturb","until":21.847,"rule":"delay'
        '","share":1.0,"seconds":0.05,"at":9.013},{"step":"publish","node":2,"zone":3,"size":64,"at":13.9'
        '27},{"step":"publish","node":2,"zone":2,"size":512,"at":17.411},{"step":"publish","node":2,"zone'
        '":1,"size":1400,"at":17.411},{"step":"publish","node":2,"zone":3,"size":64,"at":17.411}]}'
    )
    assert judge(history) is None


def test_a_discarded_number_is_not_restored_by_data():
    # datagrams of node 2 revived a forged number that node 1 had discarded, and it refused the next request
    history = read(
        '{"seed":759941802,"protocol":"aodv-unicast","as_bytes":false,"nodes":3,"edges":[[0,1],[0,2]],"he'
        'aled":[[0,1],[0,2]],"links":{},"end":24.736,"steps":[{"step":"advertise","node":2,"zones":[0,4],'
        '"at":2.043},{"step":"subscribe","node":1,"zones":[0,4],"at":4.197},{"step":"advertise","node":0,'
        '"zones":[0,4],"at":4.221},{"step":"forge","to":1,"sender":3,"data":"320bfeff0000000100000021ffff'
        'fffe0000000278a2036700000000","at":23.736}],"later":[{"step":"disturb","until":60.0,"rule":"dela'
        'y","share":0.2,"seconds":0.02,"at":0.0}]}'
    )
    assert judge(history) is None


def test_a_suppressed_subscription_may_reach_no_publisher():
    # nodes 1 and 5, the only neighbours of publisher 6, had heard enough copies of the subscription
    history = read(
        '{"seed":759941786,"protocol":"tpsr","as_bytes":false,"nodes":8,"edges":[[0,1],[0,2],[0,3],[0,5],'
        "[1,2],[1,3],[1,4],[1,5],[1,6],[1,7],[2,3],[2,4],[2,5],[3,4],[3,5],[3,7],[4,5],[4,7],[5,6],[5,7]]"
        ',"healed":[[0,1],[0,2],[0,3],[0,5],[1,2],[1,3],[1,4],[1,5],[1,6],[1,7],[2,3],[2,4],[2,5],[3,4],['
        '3,5],[3,7],[4,5],[4,7],[5,6],[5,7]],"links":{},"end":66.1,"steps":[{"step":"subscribe","node":0,'
        '"zones":[0,4],"at":1.574},{"step":"advertise","node":6,"zones":[0,4],"at":4.288},{"step":"join",'
        '"a":1,"b":4,"at":53.0},{"step":"join","a":1,"b":5,"at":53.0},{"step":"place","node":0,"x":251.28'
        '57964350953,"y":292.1078256182315,"vx":-16.67794686077054,"vy":-24.936841991505545,"at":56.0},{"'
        'step":"place","node":1,"x":374.28039744998824,"y":229.3083410153377,"vx":-29.713607122555803,"vy'
        '":4.135402249648876,"at":56.0},{"step":"place","node":7,"x":215.79046260523123,"y":319.995797345'
        '9016,"vx":29.04844793386314,"vy":7.495843690582289,"at":59.0},{"step":"place","node":4,"x":380.0'
        '299143401743,"y":203.56987468857338,"vx":-24.038976248276995,"vy":17.94791411097052,"at":61.0},{'
        '"step":"join","a":3,"b":4,"at":62.0},{"step":"part","a":0,"b":6,"at":64.0},{"step":"place","node'
        '":2,"x":305.9206717356052,"y":115.45871531163367,"vx":-29.88489848813031,"vy":2.625422319198681,'
        '"at":64.0}],"later":[{"step":"disturb","until":60.0,"rule":"lose","kinds":[64,66,68],"share":0.3'
        ',"at":0.0}]}'
    )
    assert judge(history) is None


def test_a_reply_outlives_the_way_of_the_first_message():
    # node 0 replied with a route that had 1 ms left, and it expired before the datagram arrived
    history = read(
        '{"seed":3083364516,"protocol":"aodv-unicast","parameters":{"my_route_timeout":6.0,"neighbour_rou'
        'tes":false},"as_bytes":false,"nodes":6,"edges":[[0,2],[0,3],[0,4],[0,5],[1,2],[1,5],[2,3],[2,4],'
        '[2,5],[3,4]],"healed":[[0,2],[0,3],[0,4],[0,5],[1,2],[1,5],[2,3],[2,4],[2,5],[3,4]],"links":{},"'
        'end":19.242,"steps":[{"step":"advertise","node":0,"zones":[0,4],"at":1.287},{"step":"advertise",'
        '"node":4,"zones":[0,4],"at":1.745},{"step":"advertise","node":1,"zones":[0,4],"at":2.081},{"step'
        '":"subscribe","node":3,"zones":[4,4],"at":18.242}]}'
    )
    assert judge(history) is None
