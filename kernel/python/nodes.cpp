// Nodes of the radio world: how they are added, and the routers and listeners on them.
#include <utility>

#include "python/parameters.h"
#include "python/routed_world.h"

namespace roamcast {

namespace {

void set(PyObject*& place, nb::object value) {
    Py_XDECREF(place);
    place = value.release().ptr();
}

}  // namespace

PyWorld::PyWorld(nb::dict radio, nb::dict mac, std::uint64_t seed)
    : world_(radio_parameters(radio), channel_parameters(radio), mac_parameters(mac), seed, *this) {}

NodeId PyWorld::add_static(double x, double y) { return world_.mobility().add_static({x, y}); }

NodeId PyWorld::add_waypoint(double x, double y, double width, double height, double min_speed, double max_speed,
                             double pause, bool stationary) {
    return world_.mobility().add_waypoint({{x, y, width, height}, min_speed, max_speed, pause, stationary});
}

NodeId PyWorld::add_ordered(double x, double y, const std::vector<double>& times, const std::vector<double>& xs,
                            const std::vector<double>& ys, const std::vector<double>& speeds) {
    std::vector<MovementCommand> orders;
    for (std::size_t i = 0; i < times.size(); ++i) {
        orders.push_back({from_seconds(times[i]), {xs.at(i), ys.at(i)}, speeds.at(i)});
    }
    return world_.mobility().add_ordered({x, y}, std::move(orders));
}

void PyWorld::start() {
    world_.start();
    ids_.resize(world_.size());
    receive_.resize(world_.size(), nullptr);
    shortcuts_.resize(world_.size(), nullptr);
    readers_.resize(world_.size(), SeenIndex::nobody);
    handled_.resize(world_.size(), nullptr);
    overhear_.resize(world_.size(), nullptr);
    routers_.resize(world_.size(), nullptr);
    listeners_.resize(world_.size(), nullptr);
    for (NodeId node = 0; node < world_.size(); ++node) ids_[node] = PyLong_FromSize_t(number(node));
}

void PyWorld::attach(NodeId number, nb::object router, bool promiscuous) {
    const NodeId node = index(number);
    set(receive_[node], router.attr("receive"));
    const nb::object shortcuts = nb::getattr(router, "shortcuts", nb::none());
    if (PyDict_CheckExact(shortcuts.ptr())) set(shortcuts_[node], shortcuts);
    const nb::object handled = nb::getattr(router, "handled", nb::none());
    const bool seen = nb::isinstance<Seen>(handled);
    readers_[node] = seen ? nb::inst_ptr<Seen>(handled)->reader() : SeenIndex::nobody;
    if (seen || PyDict_CheckExact(handled.ptr())) set(handled_[node], handled);
    if (promiscuous) {
        set(overhear_[node], router.attr("overhear"));
        world_.set_promiscuous(node);
    }
    set(routers_[node], router);
}

void PyWorld::detach(NodeId number) {
    const NodeId node = index(number);
    readers_[node] = SeenIndex::nobody;
    for (auto* table : {&receive_, &shortcuts_, &handled_, &overhear_, &routers_}) Py_CLEAR((*table)[node]);
}

void PyWorld::listen(NodeId number, nb::object listener) {
    const NodeId node = index(number);
    Py_CLEAR(listeners_[node]);
    if (!listener.is_none()) set(listeners_[node], listener);
}

void PyWorld::close() {
    world_.stop();
    readers_.assign(readers_.size(), SeenIndex::nobody);
    for (auto* table : {&receive_, &shortcuts_, &handled_, &overhear_, &routers_, &listeners_, &ids_}) {
        for (PyObject*& object : *table) Py_CLEAR(object);
    }
    kept_.clear();
    timers_.clear();
    kinds_.clear();
    states_.clear();
}

void PyWorld::set_radio(NodeId number, bool on) {
    world_.set_radio(index(number), on);
    if (PyErr_Occurred()) throw nb::python_error();
}

nb::object PyWorld::python_number(NodeId index) const {
    return ids_[index] != nullptr ? nb::borrow(ids_[index]) : nb::object(nb::int_(number(index)));
}

}  // namespace roamcast
