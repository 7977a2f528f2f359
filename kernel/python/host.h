// The interface of a router to its node, as the compiled parts of routers use it.
#pragma once

#include <cstdint>
#include <utility>

#include "python/routed_world.h"

namespace roamcast {

class PyHost {
public:
    PyHost(nb::object its_world, NodeId its_number, std::uint32_t its_incarnation)
        : incarnation(its_incarnation), world(nb::inst_ptr<PyWorld>(its_world)), kept(std::move(its_world)) {
        node = world->index(its_number);
        number = world->number_host(node);
        name = world->python_number(node);
    }

    void drop(nb::handle message, long reason, std::int64_t to) {
        if (!ended) world->note_drop(node, message, to, reason);
    }

    // Let the router read the node's position and velocity, as tuples of these classes.
    void grant_location(nb::type_object position, nb::type_object velocity) {
        for (const nb::type_object& pair : {position, velocity}) {
            if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(pair.ptr()), &PyTuple_Type)) {
                throw nb::type_error("a place is a tuple");
            }
        }
        position_type = std::move(position);
        velocity_type = std::move(velocity);
    }

    // The node has crashed: its timers never fire, and messages of its router are discarded.
    void end() {
        ended = true;
        world->end_host(number);
    }

    void suspend() {
        asleep = true;
        world->suspend_host(number);
    }

    void resume() {
        asleep = false;
        world->resume_host(number);
    }

    NodeId node;  // by index
    std::uint32_t incarnation;
    Owning number;  // of the host
    bool ended = false;
    bool asleep = false;
    PyWorld* world;
    nb::object kept;
    nb::object name;           // the node's number, as Python has it
    nb::object position_type;  // not valid where location is not granted
    nb::object velocity_type;
    nb::object random;  // here rather than in the instance's dictionary, which then is seldom needed
    nb::object make_random;  // called with node and incarnation when `random` is first read: a generator has 2.5 kB
};

// Set the Python error that a router has asked for its position, and location is not granted.
inline PyObject* refuse_location() {
    PyErr_SetString(PyExc_PermissionError, "nodes of this scenario do not know where they are (location = false)");
    return nullptr;
}

}  // namespace roamcast
