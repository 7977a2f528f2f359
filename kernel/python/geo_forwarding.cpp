// One hop of geographic forwarding, as a Python class: what a node does with each packet that it receives or sends.
//
// Most events of a run with geographic routing are such hops, and a hop is a dozen calls in Python. The rules are those of
// plain_forwarding.py; tests compare the two. Seldom cases are handed back: arrival, failure, and packets that wait.
#include <nanobind/nanobind.h>

#include <initializer_list>
#include <limits>
#include <utility>

#include "python/host.h"
#include "python/leases.h"
#include "python/spots.h"
#include "python/struct_field.h"
#include "routing/recent.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace roamcast {

namespace {

struct PacketFields {
    explicit PacketFields(nb::handle type)
        : origin(type, "origin"), destination(type, "destination"), goal(type, "goal"), radius(type, "radius"), serial(type, "serial"),
          hops(type, "hops"), here(type, "here"), face(type, "face"), payload(type, "payload") {}

    StructField origin, destination, goal, radius, serial, hops, here, face, payload;
};

class Forwarding {
public:
    Forwarding(nb::object owner, nb::object host, nb::object near, nb::object held, nb::type_object packet, nb::type_object point,
               nb::type_object face, double farthest, bool perimeter, bool relative, double planar, bool restarts, std::size_t remembered)
        : owner_(std::move(owner)), host_(std::move(host)), near_(std::move(near)), held_(std::move(held)), packet_(std::move(packet)),
          point_(std::move(point)), face_(std::move(face)), fields_(packet_), node_host_(part_of<PyHost>(host_)),
          positions_(part_of<NeighbourPositions>(near_)), number_(nb::cast<NeighbourPositions::Node>(host_.attr("node"))),
          farthest_(farthest), perimeter_(perimeter), relative_(relative), planar_duration_(planar), restarts_(restarts),
          passed_(remembered) {}

    // The result of a reception, or null with a Python error set.
    PyObject* receive(PyObject* message, PyObject* sender) {
        const long long from = PyLong_AsLongLong(sender);
        if (from == number_) return reason("MALFORMED");
        const bool is_packet = Py_IS_TYPE(message, reinterpret_cast<PyTypeObject*>(packet_.ptr()));
        const nb::object sender_at = is_packet ? nb::borrow(fields_.here.of(message)) : nb::steal(PyObject_GetAttr(message, name_here_.ptr()));
        PointCm spot{};
        if (PyErr_Occurred() || !read_spot(sender_at.ptr(), spot)) return nullptr;
        const double now = node_host_->world->now();
        positions_->renew(from, spot, now);
        if (PyObject_Size(held_.ptr()) > 0 && !call("retry_held", {})) return nullptr;
        if (!is_packet) return keep_beacon(message, sender, from, now);
        const long long origin = fields_.origin.integer_of(message);
        const long long serial = fields_.serial.integer_of(message);
        const long long hops = fields_.hops.integer_of(message);
        if (!passed_.add(static_cast<std::uint64_t>(origin << 24 | serial << 8 | hops))) return reason("DUPLICATE");
        NeighbourPositions::Node hop = NeighbourPositions::taken;
        if (fields_.destination.integer_of(message) != number_ && !choose(message, now, hop)) return nullptr;
        if (hop == NeighbourPositions::taken) {
            PyObject* const given[] = {fields_.payload.of(message), fields_.origin.of(message), sender};
            return call_result("arrive", given, 3);
        }
        const bool good = hops > 1 ? forward(message, hop, sender, &spot) : call("expire", {message});
        if (!good) return nullptr;
        Py_RETURN_NONE;
    }

    // Take or forward a packet that has no previous hop.
    bool send(PyObject* packet) {
        NeighbourPositions::Node hop = NeighbourPositions::taken;
        if (!choose(packet, node_host_->world->now(), hop)) return false;
        return hop == NeighbourPositions::taken ? call("arrive_here", {packet}) : forward(packet, hop, nullptr, nullptr);
    }

    // The node's position as it is sent; null with a Python error set. It is determined once per instant.
    PyObject* here(double now) {
        if (now == here_at_) return here_.ptr();
        if (!node_host_->position_type.is_valid()) return refuse_location();
        const Point position = node_host_->world->position(node_host_->node);
        here_spot_ = {centimetres(position.x, farthest_), centimetres(position.y, farthest_)};
        here_ = nb::steal(new_spot(reinterpret_cast<PyTypeObject*>(point_.ptr()), here_spot_));
        if (here_.is_valid()) here_at_ = now;
        return here_.ptr();
    }

    PyObject* here_now() { return here(node_host_->world->now()); }
    void invalidate() { planar_until_ = 0; }
    std::size_t size() const { return passed_.size(); }

    // Keep the last beacon of each neighbour in a table of leases, and report those of one neighbour.
    void keep_beacons(nb::object table) {
        if (!is_lease_table(table.ptr())) throw nb::type_error("beacons are kept in leases");
        beacons_ = std::move(table);
    }

    NeighbourPositions::Node followed = -1;  // the neighbour whose beacons are reported to the owner

    double spoke = -std::numeric_limits<double>::infinity();  // when this node last told its position

    int traverse(visitproc visit, void* arg) {
        for (nb::object* each : {&owner_, &host_, &near_, &held_, &beacons_}) Py_VISIT(each->ptr());
        return 0;
    }

    void clear() {
        for (nb::object* each : {&owner_, &host_, &near_, &held_, &beacons_}) each->reset();
    }

private:
    template <typename Part>
    static Part* part_of(const nb::object& object) {
        if (!nb::isinstance<Part>(object)) throw nb::type_error("packets are forwarded by a host of the kernel and its table of places");
        return nb::inst_ptr<Part>(object);
    }

    PyObject* keep_beacon(PyObject* message, PyObject* sender, long long from, double now) {
        if (beacons_.is_valid() && !nb::steal(renew_lease(beacons_.ptr(), sender, message, now)).is_valid()) return nullptr;
        if (from == followed && !call("beacon_of_followed", {})) return nullptr;
        Py_RETURN_NONE;
    }

    static PyObject* by_name(const nb::object& object, const char* name) {
        const nb::object key = nb::steal(PyUnicode_InternFromString(name));
        return PyObject_GetAttr(object.ptr(), key.ptr());
    }

    PyObject* reason(const char* name) {
        const nb::object reasons = nb::steal(by_name(owner_, "reasons"));
        return reasons.is_valid() ? by_name(reasons, name) : nullptr;
    }

    PyObject* call_result(const char* method, PyObject* const* args, std::size_t count) {
        const nb::object bound = nb::steal(by_name(owner_, method));
        return bound.is_valid() ? PyObject_Vectorcall(bound.ptr(), args, count, nullptr) : nullptr;
    }

    bool call(const char* method, std::initializer_list<PyObject*> args) {
        return nb::steal(call_result(method, args.begin(), args.size())).is_valid();
    }

    // The state of perimeter mode of a packet, borrowed; null in greedy mode.
    PyObject* state_of(PyObject* packet) const {
        PyObject* const face = fields_.face.of(packet);
        return PyTuple_Check(face) && PyTuple_GET_SIZE(face) > 0 ? PyTuple_GET_ITEM(face, 0) : nullptr;
    }

    bool choose(PyObject* packet, double now, NeighbourPositions::Node& hop) {
        PointCm goal{};
        PointCm entered{};
        PyObject* const state = state_of(packet);
        if (here(now) == nullptr || !read_spot(fields_.goal.of(packet), goal)) return false;
        if (state != nullptr && !read_spot(PyTuple_GET_ITEM(state, 0), entered)) return false;
        hop = positions_->choose(fields_.destination.integer_of(packet), here_spot_, goal, 100 * fields_.radius.integer_of(packet),
                                 state != nullptr ? &entered : nullptr, now);
        return true;
    }

    void planarise() {
        if (here_at_ < planar_until_) return;
        positions_->planarise(here_spot_, here_at_, relative_);
        planar_until_ = here_at_ + planar_duration_;
    }

    // Change to the next face if the edge crosses the line to the goal, and give the state of the packet on that edge.
    bool turn(PointCm goal, PyObject* entered, PyObject* crossed, PyObject* same, NeighbourPositions::Node& hop, nb::object& face) {
        PointCm entered_at{};
        PointCm crossed_at{};
        if (!read_spot(entered, entered_at) || !read_spot(crossed, crossed_at)) return false;
        const NeighbourPositions::PerimeterHop turned = positions_->change_face(here_spot_, goal, entered_at, crossed_at, hop);
        hop = turned.hop;
        if (!turned.crossed && same != nullptr) {
            face = nb::borrow(same);
            return true;
        }
        auto* const kind = reinterpret_cast<PyTypeObject*>(face_.ptr());
        const nb::object state = nb::steal(kind->tp_alloc(kind, 4));
        if (!state.is_valid()) return false;
        PyTuple_SET_ITEM(state.ptr(), 0, Py_NewRef(entered));
        PyTuple_SET_ITEM(state.ptr(), 1, turned.crossed ? new_spot(reinterpret_cast<PyTypeObject*>(point_.ptr()), *turned.crossed) : Py_NewRef(crossed));
        PyTuple_SET_ITEM(state.ptr(), 2, Py_NewRef(node_host_->name.ptr()));
        PyTuple_SET_ITEM(state.ptr(), 3, PyLong_FromLongLong(turned.crossed ? hop : first_hop_));
        face = nb::steal(PyTuple_Pack(1, state.ptr()));
        return face.is_valid() && !PyErr_Occurred();
    }

    // Perimeter mode begins at the first edge counter-clockwise from the direction of the goal.
    bool enter(PointCm goal, NeighbourPositions::Node& hop, bool& found, nb::object& face) {
        planarise();
        const auto edge = positions_->next_edge(here_spot_, goal, {});
        found = edge.has_value();
        if (!found) return true;
        hop = first_hop_ = *edge;
        return turn(goal, here_.ptr(), here_.ptr(), nullptr, hop, face);
    }

    // It goes on at the next edge counter-clockwise from the one over which the packet arrived.
    bool follow(PyObject* packet, PointCm goal, long long sender, PointCm sender_at, NeighbourPositions::Node& hop, bool& found,
                nb::object& face) {
        planarise();
        PyObject* const state = state_of(packet);
        const auto edge = positions_->next_edge(here_spot_, sender_at, sender);
        found = edge.has_value();
        if (!found) return true;
        hop = *edge;
        const bool whole_turn =
            hop == PyLong_AsLongLong(PyTuple_GET_ITEM(state, 3)) && number_ == PyLong_AsLongLong(PyTuple_GET_ITEM(state, 2));
        found = !whole_turn;  // and the goal is on neither side
        return whole_turn || turn(goal, PyTuple_GET_ITEM(state, 0), PyTuple_GET_ITEM(state, 1), fields_.face.of(packet), hop, face);
    }

    bool forward(PyObject* packet, NeighbourPositions::Node choice, PyObject* sender, const PointCm* sender_at) {
        NeighbourPositions::Node hop = choice;
        bool found = choice >= 0;
        nb::object face = no_face_;
        PointCm goal{};
        if (!read_spot(fields_.goal.of(packet), goal)) return false;
        if (choice == NeighbourPositions::around && sender != nullptr) {
            if (!follow(packet, goal, PyLong_AsLongLong(sender), *sender_at, hop, found, face)) return false;
        } else if (choice == NeighbourPositions::stuck && perimeter_) {
            if (!enter(goal, hop, found, face)) return false;
        }
        const bool faced = PyTuple_GET_SIZE(face.ptr()) > 0;
        const nb::object next = found ? nb::steal(PyLong_FromLongLong(hop)) : nb::none();
        if (found && faced && restarts_) {
            PyObject* const given[] = {fields_.origin.of(packet), fields_.serial.of(packet), PyTuple_GET_ITEM(face.ptr(), 0), next.ptr()};
            const nb::object again = nb::steal(call_result("walks_again", given, 4));
            if (!again.is_valid()) return false;
            found = again.ptr() != Py_True;
        }
        if (!found) return call("give_up", {packet});
        spoke = here_at_;
        const nb::object hops = nb::steal(PyLong_FromLongLong(fields_.hops.integer_of(packet) - 1));
        PyObject* const given[] = {fields_.origin.of(packet), fields_.destination.of(packet), fields_.goal.of(packet),
                                   fields_.radius.of(packet), fields_.serial.of(packet), hops.ptr(), here_.ptr(), face.ptr(),
                                   fields_.payload.of(packet)};
        const nb::object onward = nb::steal(PyObject_Vectorcall(packet_.ptr(), given, 9, nullptr));
        if (!onward.is_valid()) return false;
        if (node_host_->ended) return true;
        const bool same_size = PyTuple_GET_SIZE(fields_.face.of(packet)) == PyTuple_GET_SIZE(face.ptr());
        try {
            node_host_->world->pass_on(node_host_->node, packet, onward, hop, same_size);
        } catch (nb::python_error& error) {
            error.restore();
            return false;
        }
        return true;
    }

    nb::object owner_;
    nb::object host_;
    nb::object near_;
    nb::object held_;
    nb::object beacons_;  // not valid: they are not kept
    nb::object packet_;
    nb::object point_;
    nb::object face_;
    nb::object no_face_ = nb::steal(PyTuple_New(0));
    nb::object name_here_ = nb::steal(PyUnicode_InternFromString("here"));
    PacketFields fields_;
    PyHost* node_host_;
    NeighbourPositions* positions_;
    NeighbourPositions::Node number_;
    double farthest_;
    bool perimeter_;
    bool relative_;
    double planar_duration_;
    bool restarts_;
    double planar_until_ = 0;
    Recent passed_;
    nb::object here_ = nb::none();
    PointCm here_spot_{};
    double here_at_ = -1;
    NeighbourPositions::Node first_hop_ = 0;
};

Forwarding& forwarding_of(PyObject* self) { return *nb::inst_ptr<Forwarding>(self); }

PyObject* receive(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "receive takes a message, its sender and the signal");
        return nullptr;
    }
    return forwarding_of(self).receive(args[0], args[1]);
}

PyObject* send(PyObject* self, PyObject* packet) {
    if (!forwarding_of(self).send(packet)) return nullptr;
    Py_RETURN_NONE;
}

PyObject* here(PyObject* self, PyObject*) { return Py_XNewRef(forwarding_of(self).here_now()); }

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? forwarding_of(self).traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    forwarding_of(self).clear();
    return 0;
}

template <typename Function>
PyCFunction plain(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"receive", plain(receive), METH_FASTCALL, "Note where the sender is; take or forward a packet: message, sender, signal."},
    {"send", send, METH_O, "Take or forward a packet that has no previous hop."},
    {"here", here, METH_NOARGS, "The node's position as it is sent."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {{Py_tp_methods, methods},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

}  // namespace roamcast

void bind_geo_forwarding(nb::module_& module) {
    using roamcast::Forwarding;
    nb::class_<Forwarding>(module, "Forwarding", nb::type_slots(roamcast::slots), "One hop of geographic forwarding.")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::type_object, nb::type_object, nb::type_object, double, bool,
                      bool, double, bool, std::size_t>(),
             "owner"_a, "host"_a, "near"_a, "held"_a, "packet"_a, "point"_a, "face"_a, "farthest"_a, "perimeter"_a, "relative"_a,
             "planar"_a, "restarts"_a, "remembered"_a)
        .def_rw("spoke", &Forwarding::spoke)
        .def_rw("followed", &Forwarding::followed)
        .def("keep_beacons", &Forwarding::keep_beacons, "table"_a)
        .def("invalidate", &Forwarding::invalidate)
        .def("__len__", &Forwarding::size);
}
