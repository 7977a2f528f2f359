// Calls of a router's host: messages, deliveries, drops and timers.
#include <utility>

#include "python/routed_world.h"

namespace roamcast {

namespace {

constexpr int count_bits = 24;  // of a publication's id; above them are incarnation and publisher
constexpr std::int64_t count_mask = (1 << count_bits) - 1;

}  // namespace

void PyWorld::run_until(double seconds) {
    world_.run_until(from_seconds(seconds));
    if (PyErr_Occurred()) throw nb::python_error();
}

void PyWorld::post(NodeId node, nb::handle message, NodeId to) {
    require_own(node);
    const MessageInfo info = kinds_.of(message, number(node));
    Packet packet;
    packet.to = to;
    packet.size = static_cast<std::uint32_t>(integer_attribute(message.ptr(), size_name_));
    packet.kind = info.kind;
    packet.category = info.category;
    packet.about = info.about;
    MessageReference kept;
    if (info.key != nullptr) {
        kept.key = info.key_is_about ? PyLong_FromLongLong(info.about) : PyObject_GetAttr(message.ptr(), info.key);
        if (kept.key == nullptr) throw nb::python_error();
        kept.page = &SeenIndex::of_process().open(PyLong_AsUnsignedLongLongMask(kept.key));
    }
    kept.message = message.inc_ref().ptr();
    packet.message = kept_.keep(kept);
    world_.post(node, packet);
}

NodeId PyWorld::receiver_of(std::int64_t number) const {
    if (number < 0 || number >= static_cast<std::int64_t>(world_.size())) {
        PyErr_Format(PyExc_ValueError, "there is no node %lld to send to", static_cast<long long>(number));
        throw nb::python_error();
    }
    return world_.mobility().index(static_cast<NodeId>(number));
}

void PyWorld::send(NodeId node, nb::handle message, std::int64_t to) { post(node, message, receiver_of(to)); }

void PyWorld::pass_on(NodeId node, nb::handle before, nb::handle message, std::int64_t to, bool same_size) {
    const NodeId receiver = receiver_of(to);
    const bool received = received_ != nullptr && kept_[received_->message].message == before.ptr();
    if (!received || !same_size || kept_[received_->message].key != nullptr) return post(node, message, receiver);
    require_own(node);
    Packet packet;
    packet.to = receiver;
    packet.size = received_->size;
    packet.kind = received_->kind;
    packet.category = received_->category;
    packet.about = received_->about;
    MessageReference kept;
    kept.message = message.inc_ref().ptr();
    packet.message = kept_.keep(kept);
    world_.post(node, packet);
}

nb::list PyWorld::withdraw(NodeId node, std::int64_t neighbour) {
    nb::list out;
    if (neighbour < 0 || neighbour >= static_cast<std::int64_t>(world_.size())) return out;
    world_.withdraw(node, world_.mobility().index(static_cast<NodeId>(neighbour)),
                    [&](Handle handle) { out.append(nb::borrow(kept_[handle].message)); });
    return out;
}

void PyWorld::check_routers(std::uint64_t known_reasons, nb::object messages) {
    known_reasons_ = known_reasons;
    kinds_.declare(std::move(messages));
    checks_deliveries_ = true;
}

void PyWorld::note_published(std::int64_t id) { published_[id >> count_bits] = id & count_mask; }

void PyWorld::deliver(NodeId node, nb::handle publication) {
    require_own(node);
    const std::int64_t id = integer_attribute(publication.ptr(), id_name_);
    if (checks_deliveries_) require_published(node, id);
    deliveries_.push_back({world_.now(), id, node});
    if (listeners_[node] == nullptr) return;
    PyObject* const result = PyObject_CallOneArg(listeners_[node], publication.ptr());
    if (result == nullptr) throw nb::python_error();
    Py_DECREF(result);
}

void PyWorld::note_drop(NodeId node, nb::handle message, std::int64_t peer, long reason) {
    const MessageInfo info = kinds_.of(message, number(node));
    count_drop(node, info.kind, info.category, info.about, static_cast<std::int32_t>(peer), reason);
    if (failed_) throw nb::python_error();
}

Owning PyWorld::number_host(NodeId node) {
    host_nodes_.push_back(node);
    return static_cast<Owning>(host_nodes_.size() - 1);
}

void PyWorld::resume_host(Owning host) {
    for (const Timers::DueTimer& due : timers_.release(host)) timer(due.slot, due.order);
    if (PyErr_Occurred()) throw nb::python_error();
}

bool PyWorld::set_timer(double delay, PyObject* action, PyObject* const* args, Py_ssize_t count, Owning owner, bool held,
                        std::uint32_t& slot, std::uint64_t& order) {
    if (!(delay >= 0) || delay > 1e9) {
        PyErr_SetString(PyExc_ValueError, "a delay must be finite and not negative");
        return false;
    }
    const bool single = count == 1;
    PyObject* const given = single ? Py_NewRef(args[0]) : PyTuple_New(count);
    if (given == nullptr) return false;
    for (Py_ssize_t i = 0; i < count && !single; ++i) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    slot = timers_.take_slot();
    order = world_.set_timer(at_least_seconds(delay), slot);
    timers_.fill(slot, {Py_NewRef(action), given, order, owner, single, held});
    return true;
}

void PyWorld::require_own(NodeId node) {
    if (at_work_ == node || at_work_ == everyone) return;
    raise_broken_contract(number(at_work_), "it used the host of node %u", number(node));
    throw nb::python_error();
}

void PyWorld::require_published(NodeId node, std::int64_t id) const {
    const auto found = published_.find(id >> count_bits);
    const std::int64_t count = id & count_mask;
    if (found != published_.end() && count > 0 && count <= found->second) return;
    raise_broken_contract(number(node), "it delivered publication %lld of node %lld, which nobody has published",
           static_cast<long long>(id), static_cast<long long>(id >> 32));
    throw nb::python_error();
}

}  // namespace roamcast
