// Address resolution (mac.arp): before the first message to a neighbour its address is asked for. One message is kept
// meanwhile; a further one takes its place, and asks again. What was learnt is never forgotten, and whoever hears a
// query learns who asked.
#include "world/arp.h"

#include "world/world.h"

namespace roamcast {

// Whether a message may go down; if not, it is kept or given up.
bool World::resolve(NodeId node, const Packet& parcel) {
    Address& address = addresses_[node][parcel.to];
    if (address.known) return true;
    if (address.queries >= most_queries) {
        address.queries = 0;
        if (address.holds) descend(node, address.held, mac_.link_delay, true);
        address.holds = false;
        descend(node, parcel, mac_.link_delay, true);
        return false;
    }
    ++address.queries;
    if (address.holds) lose_unresolved(node, address.held);
    address.holds = true;
    address.held = parcel;
    ++counters_.arp_queries;
    descend(node, arp_frame(Arp::Query, everyone, parcel.to), arp_delay, false);
    return false;
}

void World::arp_heard(NodeId node, NodeId from, const Packet& parcel) {
    Address& address = addresses_[node][from];
    address.known = true;
    if (address.holds) {
        address.holds = false;
        descend(node, address.held, arp_delay, false);
    }
    if (parcel.arp == Arp::Query && parcel.message == node) {
        ++counters_.arp_replies;
        descend(node, arp_frame(Arp::Reply, from, from), arp_delay, false);
    }
}

Packet World::arp_frame(Arp arp, NodeId to, NodeId asked) {
    Packet parcel;
    parcel.message = asked;
    parcel.to = to;
    parcel.size = arp_bytes;
    parcel.arp = arp;
    return parcel;
}

void World::lose_unresolved(NodeId node, const Packet& parcel) {
    ++counters_.unresolved;
    record_unsent(node, parcel, Loss::Unresolved);
    let_go(parcel);
}

}  // namespace roamcast
