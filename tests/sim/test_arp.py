"""Address resolution as an option of the link: a query, a reply, one message kept."""

from .test_unicast import Letter, office


def frames(world):
    counters = world.counters()
    return {name: counters.get(name, 0) for name in ("arp_queries", "arp_replies", "unresolved")}


def test_a_first_message_waits_for_an_answer_and_later_ones_do_not():
    world, (a, b) = office([0, 200], arp=True)
    a.host.send(Letter(1), 1)
    world.run_until(0.5)
    a.host.send(Letter(2), 1)
    world.run_until(1)
    assert b.got == [(1, 0), (2, 0)]
    assert frames(world) == {"arp_queries": 1, "arp_replies": 1, "unresolved": 0}
    # The link's own frames are nobody's messages.
    assert len(world.transmissions()["time"]) == 2


def test_of_several_messages_at_once_the_last_is_kept():
    world, (a, b) = office([0, 200], arp=True)
    world.record_losses(True)
    for number in range(3):
        a.host.send(Letter(number), 1)
    world.run_until(1)
    assert b.got == [(2, 0)]
    assert frames(world)["unresolved"] == 2
    assert a.failed == []  # as in ns-2, the router hears nothing of them
    assert world.lost_frames()["cause"].tolist() == [19, 19]


def test_whoever_hears_a_query_knows_who_asked():
    world, (a, b, c) = office([0, 200, 100], arp=True)
    a.host.send(Letter(1), 1)
    world.run_until(0.5)
    c.host.send(Letter(2), 0)
    b.host.send(Letter(3), 0)
    world.run_until(1)
    assert sorted(a.got) == [(2, 2), (3, 1)]
    assert frames(world)["arp_queries"] == 1


def test_a_broadcast_needs_no_address():
    world, (a, b) = office([0, 200], arp=True)
    a.host.broadcast(Letter(1))
    world.run_until(1)
    assert b.got == [(1, 0)]
    assert frames(world)["arp_queries"] == 0


def test_after_three_queries_without_an_answer_the_router_hears_of_it():
    world, (a, b) = office([0, 300], arp=True)
    for number in range(5):
        world.call_at(0.1 * number, a.host.send, Letter(number), 1)
    world.run_until(1)
    assert b.got == []
    # The fourth finds three queries unanswered: it and the one kept have failed. The fifth begins anew.
    assert [number for number, _, _ in a.failed] == [2, 3]
    assert frames(world) == {"arp_queries": 4, "arp_replies": 0, "unresolved": 4}


def test_what_is_kept_for_an_address_cannot_be_withdrawn_and_is_lost_with_the_radio():
    world, (a, b) = office([0, 300], arp=True)
    a.host.send(Letter(2), 1)
    world.run_until(0.1)
    assert a.host.withdraw(1) == []
    world.run_until(0.2)
    world.set_radio(0, False)
    assert [number for number, _, _ in a.failed] == [2]
    world.set_radio(0, True)
    world.run_until(0.3)
    assert b.got == []
