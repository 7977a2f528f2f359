// Address resolution (mac.arp): before the first message to a neighbour its address is asked for. One message is kept
// meanwhile; a further one takes its place, and asks again. Addresses are never forgotten, and every station that hears a
// query learns that of its sender.
#include "world/arp.h"

#include "world/world.h"

namespace roamcast {

// Whether a message may go down; if not, it is kept or given up.
bool World::resolve(NodeId node, const Packet& packet) {
    Address& address = addresses_[node][packet.to];
    if (address.known) return true;
    if (address.queries >= most_queries) {
        address.queries = 0;
        if (address.holds) descend(node, address.held, mac_.link_delay, true);
        address.holds = false;
        descend(node, packet, mac_.link_delay, true);
        return false;
    }
    ++address.queries;
    if (address.holds) lose_unresolved(node, address.held);
    address.holds = true;
    address.held = packet;
    ++counters_.arp_queries;
    descend(node, arp_frame(Arp::Query, everyone, packet.to), arp_delay, false);
    return false;
}

void World::arp_heard(NodeId node, NodeId from, const Packet& packet) {
    Address& address = addresses_[node][from];
    address.known = true;
    if (address.holds) {
        address.holds = false;
        descend(node, address.held, arp_delay, false);
    }
    if (packet.arp == Arp::Query && packet.message == node) {
        ++counters_.arp_replies;
        descend(node, arp_frame(Arp::Reply, from, from), arp_delay, false);
    }
}

Packet World::arp_frame(Arp arp, NodeId to, NodeId asked) {
    Packet packet;
    packet.message = asked;
    packet.to = to;
    packet.size = arp_bytes;
    packet.arp = arp;
    return packet;
}

void World::lose_unresolved(NodeId node, const Packet& packet) {
    ++counters_.unresolved;
    record_unsent(node, packet, Loss::Unresolved);
    release_packet(packet);
}

}  // namespace roamcast
