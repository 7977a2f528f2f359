// The interface of routers to the radio world: hosts and timers.
//
// Every event calls these at every node, so they are methods as CPython's own types have them, which cost about
// half as much to call as bound C++ functions.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "python/host.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace roamcast {

namespace {

PyTypeObject* timer_type = nullptr;

// A timer that a router may cancel.
struct TimerObject {
    PyObject_HEAD
    PyObject* world;
    std::uint64_t order;
    std::uint32_t slot;
};

}  // namespace

PyObject* new_timer(nb::handle world, double delay, PyObject* const* action, Py_ssize_t count, Owning owner, bool held) {
    auto* const timer = PyObject_New(TimerObject, timer_type);
    if (timer == nullptr) return nullptr;
    timer->world = Py_NewRef(world.ptr());
    timer->slot = 0;
    timer->order = 0;  // that of no timer
    if (action == nullptr) return reinterpret_cast<PyObject*>(timer);
    PyWorld& clock = *nb::inst_ptr<PyWorld>(world);
    if (!clock.set_timer(delay, action[0], action + 1, count - 1, owner, held, timer->slot, timer->order)) {
        Py_DECREF(timer);
        return nullptr;
    }
    return reinterpret_cast<PyObject*>(timer);
}

namespace {

PyHost& host_of(PyObject* self) { return *nb::inst_ptr<PyHost>(self); }

// Call an action; C++ exceptions become Python errors.
template <typename Action>
PyObject* guarded(Action action) {
    try {
        action();
    } catch (nb::python_error& error) {
        error.restore();
        return nullptr;
    }
    Py_RETURN_NONE;
}

PyObject* complain(const char* what) {
    PyErr_SetString(PyExc_TypeError, what);
    return nullptr;
}

TimerObject* timer_of(PyObject* self) { return reinterpret_cast<TimerObject*>(self); }

PyObject* timer_cancel(PyObject* self, PyObject*) {
    nb::inst_ptr<PyWorld>(timer_of(self)->world)->cancel_timer(timer_of(self)->slot, timer_of(self)->order);
    Py_RETURN_NONE;
}

PyObject* timer_active(PyObject* self, void*) {
    return PyBool_FromLong(
        nb::inst_ptr<PyWorld>(timer_of(self)->world)->timer_active(timer_of(self)->slot, timer_of(self)->order));
}

void timer_dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    Py_DECREF(timer_of(self)->world);
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef timer_methods[] = {
    {"cancel", timer_cancel, METH_NOARGS, "Cancel the timer; without effect if it has fired."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef timer_properties[] = {
    {"active", timer_active, nullptr, "Whether the timer will still fire.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot timer_slots[] = {
    {Py_tp_doc, const_cast<char*>("A timer that can be cancelled.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(timer_dealloc)},
    {Py_tp_methods, timer_methods},
    {Py_tp_getset, timer_properties},
    {0, nullptr},
};

PyType_Spec timer_spec = {"roamcast._kernel.Timer", sizeof(TimerObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, timer_slots};

PyObject* host_now(PyObject* self, PyObject*) { return PyFloat_FromDouble(host_of(self).world->now()); }

PyObject* host_broadcast(PyObject* self, PyObject* message) {
    PyHost& host = host_of(self);
    if (host.ended) Py_RETURN_NONE;
    return guarded([&] { host.world->broadcast(host.node, message); });
}

PyObject* host_send(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) return complain("send takes a message and the node that it is for");
    const long long to = PyLong_AsLongLong(args[1]);
    if (to == -1 && PyErr_Occurred()) return nullptr;
    PyHost& host = host_of(self);
    if (host.ended) Py_RETURN_NONE;
    return guarded([&] { host.world->send(host.node, args[0], to); });
}

PyObject* host_deliver(PyObject* self, PyObject* publication) {
    PyHost& host = host_of(self);
    if (host.ended) Py_RETURN_NONE;
    return guarded([&] { host.world->deliver(host.node, publication); });
}

PyObject* host_state(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) return complain("state takes a name and a number");
    const double value = PyFloat_AsDouble(args[1]);
    if (value == -1.0 && PyErr_Occurred()) return nullptr;
    PyHost& host = host_of(self);
    if (host.ended) Py_RETURN_NONE;
    return guarded([&] { host.world->state(host.node, args[0], value); });
}

PyObject* host_distance(PyObject* self, PyObject* signal) {
    const double watts = PyFloat_AsDouble(signal);
    if (watts == -1.0 && PyErr_Occurred()) return nullptr;
    return PyFloat_FromDouble(host_of(self).world->distance(watts));
}

PyObject* host_withdraw(PyObject* self, PyObject* neighbour) {
    const long long other = PyLong_AsLongLong(neighbour);
    if (other == -1 && PyErr_Occurred()) return nullptr;
    PyHost& host = host_of(self);
    return (host.ended ? nb::list() : host.world->withdraw(host.node, other)).release().ptr();
}

PyObject* host_call_later(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count < 2) return complain("call_later takes a delay, an action and its arguments");
    const double delay = PyFloat_AsDouble(args[0]);
    if (delay == -1.0 && PyErr_Occurred()) return nullptr;
    PyHost& host = host_of(self);
    return new_timer(host.kept, delay, host.ended ? nullptr : args + 1, count - 1, host.number, host.asleep);
}

// A pair as a NamedTuple, made as its class would, but without the call.
PyObject* pair_of(const nb::object& type, Point pair) {
    if (!type.is_valid()) return refuse_location();
    auto* const kind = reinterpret_cast<PyTypeObject*>(type.ptr());
    PyObject* const made = kind->tp_alloc(kind, 2);
    if (made == nullptr) return nullptr;
    PyTuple_SET_ITEM(made, 0, PyFloat_FromDouble(pair.x));
    PyTuple_SET_ITEM(made, 1, PyFloat_FromDouble(pair.y));
    return made;
}

PyObject* host_position(PyObject* self, PyObject*) {
    PyHost& host = host_of(self);
    return pair_of(host.position_type, host.world->position(host.node));
}

PyObject* host_velocity(PyObject* self, PyObject*) {
    PyHost& host = host_of(self);
    return pair_of(host.velocity_type, host.world->velocity(host.node));
}

PyObject* host_node(PyObject* self, void*) { return host_of(self).name.inc_ref().ptr(); }

PyObject* host_random(PyObject* self, void*) {
    PyHost& host = host_of(self);
    if (!host.random.is_valid() && host.make_random.is_valid()) {
        try {
            host.random = host.make_random(host.name, host.incarnation);
        } catch (nb::python_error& error) {
            error.restore();
            return nullptr;
        }
    }
    if (host.random.is_valid()) return host.random.inc_ref().ptr();
    PyErr_SetString(PyExc_AttributeError, "this host has no random number generator");
    return nullptr;
}

int host_set_random(PyObject* self, PyObject* value, void*) {
    host_of(self).random = nb::borrow(value);
    return 0;
}

template <typename Function>
PyCFunction plain(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef host_methods[] = {
    {"now", host_now, METH_NOARGS, "Seconds since the run started."},
    {"broadcast", host_broadcast, METH_O, "Give a message to everyone in range."},
    {"send", plain(host_send), METH_FASTCALL, "Give a message to a neighbour."},
    {"deliver", host_deliver, METH_O, "Deliver an event to the application of this node."},
    {"call_later", plain(host_call_later), METH_FASTCALL, "Call an action with its arguments after a delay."},
    {"state", plain(host_state), METH_FASTCALL, "Record a state of this node."},
    {"distance", host_distance, METH_O, "The distance of a sender whose signal has this power [m]."},
    {"withdraw", host_withdraw, METH_O, "Take back the messages that wait in the link for a neighbour."},
    {"position", host_position, METH_NOARGS, "Own position, where location is granted."},
    {"velocity", host_velocity, METH_NOARGS, "Own velocity, where location is granted."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef host_properties[] = {
    {"node", host_node, nullptr, "Its number.", nullptr},
    {"random", host_random, host_set_random, "The node's random number generator.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot host_slots[] = {{Py_tp_methods, host_methods}, {Py_tp_getset, host_properties}, {0, nullptr}};

}  // namespace

}  // namespace roamcast

void bind_host(nb::module_& module) {
    using namespace roamcast;
    timer_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&timer_spec));
    if (timer_type == nullptr) throw nb::python_error();
    module.attr("Timer") = nb::handle(reinterpret_cast<PyObject*>(timer_type));
    nb::class_<PyHost>(module, "Host", nb::dynamic_attr(), nb::type_slots(host_slots), "The interface of a router to its node.")
        .def(nb::init<nb::object, NodeId, std::uint32_t>(), "world"_a, "node"_a, "incarnation"_a = 0)
        .def_ro("incarnation", &PyHost::incarnation)
        .def_ro("ended", &PyHost::ended)
        .def("end", &PyHost::end)
        .def("suspend", &PyHost::suspend)
        .def("resume", &PyHost::resume)
        .def("drop", &PyHost::drop, "message"_a, "reason"_a, "to"_a = -1)
        .def("draw_from", [](PyHost& host, nb::object make) { host.make_random = std::move(make); }, "make"_a)
        .def("grant_location", &PyHost::grant_location, "position"_a, "velocity"_a);
}
