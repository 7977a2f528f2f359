// Sets of seen numbers as Python classes. Every packet is looked up, so `add` is a method as CPython's own types have it.
#include "routing/seen.h"

#include <nanobind/nanobind.h>

#include "routing/recent.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using roamcast::Recent;
using roamcast::Seen;

// Of a number beyond 64 bits the low ones count.
std::uint64_t low_bits(nb::int_ number) { return PyLong_AsUnsignedLongLongMask(number.ptr()); }

template <typename Set>
PyObject* add(PyObject* self, PyObject* number) {
    if (!PyLong_Check(number)) {
        PyErr_SetString(PyExc_TypeError, "a seen number must be an integer");
        return nullptr;
    }
    return PyBool_FromLong(nb::inst_ptr<Set>(self)->add(PyLong_AsUnsignedLongLongMask(number)));
}

template <typename Set>
void bind(nb::module_& module, const char* name, const char* about) {
    static PyMethodDef methods[] = {
        {"add", add<Set>, METH_O, "Add a number; return whether it is new."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
    nb::class_<Set>(module, name, nb::type_slots(slots), about)
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("__contains__", [](const Set& seen, nb::int_ number) { return seen.contains(low_bits(number)); })
        .def("__len__", &Set::size);
}

}  // namespace

void bind_seen(nb::module_& module) {
    bind<Seen>(module, "Seen", "A bounded set of numbers that forgets the oldest first.");
    bind<Recent>(module, "Recent", "The same, for sets that no host reads.");
}
