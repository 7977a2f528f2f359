// Sets of seen numbers as Python classes. Every packet is looked up, so methods are as those of CPython's own types; of a
// number beyond 64 bits the low ones count.
#include "routing/seen.h"

#include <nanobind/nanobind.h>

#include "routing/recent.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using roamcast::Recent;
using roamcast::Seen;

template <typename Set>
PyObject* add(PyObject* self, PyObject* number) {
    if (!PyLong_Check(number)) {
        PyErr_SetString(PyExc_TypeError, "a seen number must be an integer");
        return nullptr;
    }
    return PyBool_FromLong(nb::inst_ptr<Set>(self)->add(PyLong_AsUnsignedLongLongMask(number)));
}

template <typename Set>
int contains(PyObject* self, PyObject* number) {
    if (!PyLong_Check(number)) {
        PyErr_SetString(PyExc_TypeError, "a seen number must be an integer");
        return -1;
    }
    return nb::inst_ptr<Set>(self)->contains(PyLong_AsUnsignedLongLongMask(number)) ? 1 : 0;
}

template <typename Set>
void bind(nb::module_& module, const char* name, const char* about) {
    static PyMethodDef methods[] = {
        {"add", add<Set>, METH_O, "Add a number; return whether it is new."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                  {Py_sq_contains, reinterpret_cast<void*>(contains<Set>)},
                                  {0, nullptr}};
    nb::class_<Set>(module, name, nb::type_slots(slots), about)
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("__len__", &Set::size);
}

}  // namespace

void bind_seen(nb::module_& module) {
    bind<Seen>(module, "Seen", "A bounded set of numbers that forgets the oldest first.");
    bind<Recent>(module, "Recent", "The same, for sets that no host reads.");
}
