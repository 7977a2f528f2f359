// Calls of Python's routers by the radio world: the hot path.
#include "python/routed_world.h"

namespace roamcast {

namespace {

constexpr long duplicate = 1;  // Drop.DUPLICATE

}  // namespace

void PyWorld::receive(NodeId node, const Packet& packet, NodeId from, double power) {
    if (failed_) return;
    // Most receptions are duplicates: where the router shares which messages it has handled, they need no call.
    if (has_handled(node, packet)) {
        const auto peer = static_cast<std::int32_t>(number(from));
        return count_drop(node, packet.kind, packet.category, packet.about, peer, duplicate);
    }
    if (!failed_ && receive_[node] != nullptr) call_receive(node, packet, from, power);
}

void PyWorld::call_receive(NodeId node, const Packet& packet, NodeId from, double power) {
    PyObject* const watts = PyFloat_FromDouble(power);
    PyObject* args[] = {nullptr, kept_[packet.message].message, ids_[from], watts};
    at_work_ = node;
    received_ = &packet;
    PyObject* receive = receive_[node];
    if (shortcuts_[node] != nullptr) {
        PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(args[1]));
        PyObject* const shortcut = PyDict_GetItemWithError(shortcuts_[node], type);
        if (shortcut != nullptr) receive = shortcut;
    }
    PyObject* const result = PyObject_Vectorcall(receive, args + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    received_ = nullptr;
    at_work_ = everyone;
    Py_DECREF(watts);
    if (result == nullptr) {
        fail();
        return;
    }
    if (result != Py_None) {
        const long reason = PyLong_Check(result) && !PyBool_Check(result) ? PyLong_AsLong(result) : -1;
        if (reason == -1) {
            PyErr_Clear();
            raise_broken_contract(number(node), "receive returned %R; expected None or a Drop", result);
            fail();
        } else {
            const auto peer = static_cast<std::int32_t>(number(from));
            count_drop(node, packet.kind, packet.category, packet.about, peer, reason);
        }
    }
    Py_DECREF(result);
}

void PyWorld::overhear(NodeId node, const Packet& packet, NodeId from, double power) {
    if (failed_ || overhear_[node] == nullptr) return;
    PyObject* const watts = PyFloat_FromDouble(power);
    PyObject* args[] = {nullptr, kept_[packet.message].message, ids_[from], ids_[packet.to], watts};
    at_work_ = node;
    finish(PyObject_Vectorcall(overhear_[node], args + 1, 4 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    Py_DECREF(watts);
}

void PyWorld::link_failed(NodeId node, const Packet& packet) {
    if (failed_ || routers_[node] == nullptr) return;
    PyObject* args[] = {routers_[node], kept_[packet.message].message, ids_[packet.to]};
    at_work_ = node;
    finish(PyObject_VectorcallMethod(link_failed_name_, args, 3, nullptr));
}

void PyWorld::timer(std::uint32_t slot, std::uint64_t order) {
    Timer due = timers_.take(slot, order);
    if (due.action == nullptr) return;  // cancelled
    at_work_ = host_nodes_[due.owner];
    if (!failed_) finish(due.call());
    due.clear();
}

bool PyWorld::interrupted() {
    if (!failed_ && PyErr_CheckSignals() != 0) fail();
    return failed_;
}

void PyWorld::fail() {
    failed_ = true;
    world_.stop();
}

void PyWorld::finish(PyObject* result) {
    at_work_ = everyone;
    if (result == nullptr) {
        fail();
    } else {
        Py_DECREF(result);
    }
}

void PyWorld::count_drop(NodeId node, std::uint16_t kind, std::uint8_t category, std::int64_t about, std::int32_t peer,
                         long reason) {
    if (reason < 0 || static_cast<std::size_t>(reason) >= reasons || (known_reasons_ >> reason & 1) == 0) {
        raise_broken_contract(number(node), "it gave %ld as its reason to drop a message; expected a Drop", reason);
        fail();
        return;
    }
    ++drop_counts_[static_cast<std::size_t>(reason)];
    if ((recorded_reasons_ >> reason & 1) != 0) {
        drops_.push_back({world_.now(), about, node, peer, kind, category, static_cast<std::uint8_t>(reason)});
    }
}

}  // namespace roamcast
