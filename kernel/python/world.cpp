// The radio world as a Python class.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "channel/error_rate.h"
#include "python/parameters.h"
#include "python/routed_world.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Call an action at a time, or now if that has passed.
nb::object call_at(nb::handle world, double time, nb::handle action, nb::args args) {
    std::vector<PyObject*> called{action.ptr()};
    for (nb::handle arg : args) called.push_back(arg.ptr());
    const double delay = std::max(0.0, time - nb::inst_ptr<roamcast::PyWorld>(world)->now());
    PyObject* const timer = roamcast::new_timer(world, std::isnan(time) ? time : delay, called.data(),
                                                static_cast<Py_ssize_t>(called.size()), roamcast::of_the_world, false);
    if (timer == nullptr) throw nb::python_error();
    return nb::steal(timer);
}

}  // namespace

void bind_world(nb::module_& module) {
    using namespace roamcast;
    broken_contract() = PyErr_NewException("roamcast._kernel.BrokenContract", PyExc_Exception, nullptr);
    if (broken_contract() == nullptr) throw nb::python_error();
    module.attr("BrokenContract") = nb::handle(broken_contract());
    nb::class_<PyWorld>(module, "World", "Nodes that move, a medium that they share, and a clock.")
        .def(nb::init<nb::dict, nb::dict, std::uint64_t>(), "radio"_a, "mac"_a, "seed"_a)
        .def("add_static", &PyWorld::add_static, "x"_a, "y"_a)
        .def("add_waypoint", &PyWorld::add_waypoint, "x"_a, "y"_a, "width"_a, "height"_a, "min_speed"_a,
             "max_speed"_a, "pause"_a, "stationary"_a)
        .def("add_ordered", &PyWorld::add_ordered, "x"_a, "y"_a, "times"_a, "xs"_a, "ys"_a, "speeds"_a)
        .def("start", &PyWorld::start)
        .def("attach", &PyWorld::attach, "node"_a, "router"_a, "promiscuous"_a = false)
        .def("detach", &PyWorld::detach, "node"_a)
        .def("listen", &PyWorld::listen, "node"_a, "listener"_a.none())
        .def("set_radio", &PyWorld::set_radio, "node"_a, "on"_a)
        .def("radio_on", &PyWorld::radio_on, "node"_a)
        .def("check_routers", &PyWorld::check_routers, "known_reasons"_a, "messages"_a)
        .def("note_published", &PyWorld::note_published, "publication"_a)
        .def("enter", &PyWorld::enter, "node"_a)
        .def(
            "state",
            [](PyWorld& world, NodeId node, nb::handle name, double value) { world.state(world.index(node), name, value); },
            "node"_a, "name"_a, "value"_a)
        .def("close", &PyWorld::close)
        .def("run_until", &PyWorld::run_until, "seconds"_a)
        .def("now", &PyWorld::now)
        .def("call_at", &call_at, "time"_a, "action"_a, "args"_a)
        .def(
            "position",
            [](PyWorld& world, NodeId node) {
                const Point point = world.position(world.index(node));
                return nb::make_tuple(point.x, point.y);
            },
            "node"_a)
        .def("order", &PyWorld::order)
        .def("positions", &PyWorld::positions)
        .def("movement", &PyWorld::movement, "until"_a)
        .def("receivers", &PyWorld::receivers, "source"_a)
        .def("counters", &PyWorld::counters)
        .def("drop_counts", &PyWorld::drop_counts)
        .def("kinds", &PyWorld::kinds)
        .def("deliveries", &PyWorld::deliveries)
        .def("transmissions", &PyWorld::transmissions)
        .def("lost_frames", &PyWorld::lost_frames)
        .def("router_drops", &PyWorld::router_drops)
        .def("states", &PyWorld::states)
        .def("state_names", &PyWorld::state_names)
        .def("recorded", &PyWorld::recorded)
        .def("forget", &PyWorld::forget)
        .def("record_losses", &PyWorld::record_losses, "on"_a)
        .def("record_reasons", &PyWorld::record_reasons, "mask"_a);
    module.def(
        "success_rate",
        [](int modulation, int code, double snr, double bits) {
            return success_rate(static_cast<Modulation>(modulation), static_cast<CodeRate>(code), snr, bits);
        },
        "modulation"_a, "code"_a, "snr"_a, "bits"_a);
    module.def(
        "mean_power", [](nb::dict radio, double distance) { return Radio(radio_parameters(radio)).mean(distance * distance); },
        "radio"_a, "distance"_a);
    module.def("mean_distance", &mean_distance, "width"_a, "height"_a);
}
