// The radio world as a Python class, and what routers see of it: hosts and timers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>

#include "python/routed_world.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace roamcast {

// A timer that a router may cancel.
class PyTimer {
public:
    PyTimer(nb::object world, std::uint32_t slot, std::uint64_t order)
        : world_(std::move(world)), slot_(slot), order_(order) {}
    void cancel() { nb::inst_ptr<PyWorld>(world_)->cancel_timer(slot_, order_); }
    bool active() const { return nb::inst_ptr<PyWorld>(world_)->timer_active(slot_, order_); }

private:
    nb::object world_;
    std::uint32_t slot_;
    std::uint64_t order_;
};

// What a router sees of its node; sim.world adds to it in Python.
class PyHost {
public:
    PyHost(nb::object world, NodeId node) : kept_(world), world_(nb::inst_ptr<PyWorld>(world)), node(node) {}

    double now() const { return world_->now(); }
    void broadcast(nb::handle message) { world_->broadcast(node, message); }
    void send(nb::handle message, std::int64_t to) { world_->send(node, message, to); }
    void drop(nb::handle message, long reason) { world_->note_drop(node, message, -1, reason); }
    nb::tuple position() { return world_->position(node); }

    PyTimer call_later(double delay, nb::handle action, nb::args args) {
        std::uint64_t order = 0;
        const std::uint32_t slot = world_->set_timer(delay, action, args, order);
        return PyTimer(kept_, slot, order);
    }

private:
    nb::object kept_;
    PyWorld* world_;

public:
    NodeId node;
};

}  // namespace roamcast

void bind_world(nb::module_& module) {
    using namespace roamcast;
    nb::class_<PyWorld>(module, "World", "Nodes that move, a medium that they share, and a clock.")
        .def(nb::init<nb::dict, nb::dict, std::uint64_t>(), "radio"_a, "mac"_a, "seed"_a)
        .def("add_static", &PyWorld::add_static, "x"_a, "y"_a)
        .def("add_waypoint", &PyWorld::add_waypoint, "x"_a, "y"_a, "width"_a, "height"_a, "min_speed"_a,
             "max_speed"_a, "pause"_a, "stationary"_a)
        .def("add_ordered", &PyWorld::add_ordered, "x"_a, "y"_a, "times"_a, "xs"_a, "ys"_a, "speeds"_a)
        .def("start", &PyWorld::start)
        .def("attach", &PyWorld::attach, "node"_a, "router"_a, "promiscuous"_a = false)
        .def("close", &PyWorld::close)
        .def("run_until", &PyWorld::run_until, "seconds"_a)
        .def("now", &PyWorld::now)
        .def("position", &PyWorld::position, "node"_a)
        .def("positions", &PyWorld::positions)
        .def("movement", &PyWorld::movement, "until"_a)
        .def("receivers", &PyWorld::receivers, "source"_a)
        .def("counters", &PyWorld::counters)
        .def("drop_counts", &PyWorld::drop_counts)
        .def("kinds", &PyWorld::kinds)
        .def("transmissions", &PyWorld::transmissions)
        .def("lost_frames", &PyWorld::lost_frames)
        .def("router_drops", &PyWorld::router_drops)
        .def("record_losses", &PyWorld::record_losses, "on"_a)
        .def("record_reasons", &PyWorld::record_reasons, "mask"_a);
    nb::class_<PyTimer>(module, "Timer", "Something that will happen unless it is cancelled.")
        .def("cancel", &PyTimer::cancel)
        .def_prop_ro("active", &PyTimer::active);
    nb::class_<PyHost>(module, "Host", nb::dynamic_attr(), "What a router sees of its node.")
        .def(nb::init<nb::object, NodeId>(), "world"_a, "node"_a)
        .def_ro("node", &PyHost::node)
        .def("now", &PyHost::now)
        .def("broadcast", &PyHost::broadcast, "message"_a)
        .def("send", &PyHost::send, "message"_a, "to"_a)
        .def("drop", &PyHost::drop, "message"_a, "reason"_a)
        .def("place", &PyHost::position)
        .def("call_later", &PyHost::call_later, "delay"_a, "action"_a, "args"_a);
    module.def("mean_distance", &mean_distance, "width"_a, "height"_a);
}
