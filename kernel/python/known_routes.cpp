// `KnownRoutes` as a Python class. Every entry of every update is looked up, so its methods are as CPython's own types have
// them.
#include "routing/known_routes.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using roamcast::KnownRoutes;

KnownRoutes& routes_of(PyObject* self) { return *nb::inst_ptr<KnownRoutes>(self); }

// An int below 2^30, as nearly all numbers of entries are, read without a call; else -1.
Py_ssize_t small_number(PyObject* object) {
    const auto* const number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact(number) ? PyUnstable_Long_CompactValue(number) : -1;
#else
    return Py_SIZE(number) == 1 ? static_cast<Py_ssize_t>(number->ob_digit[0]) : Py_SIZE(number) == 0 ? 0 : -1;
#endif
}

// A number of 32 bits; none, without a Python error, if the object is none.
std::optional<std::uint32_t> number_of(PyObject* object) {
    if (!PyLong_Check(object)) return std::nullopt;
    if (const Py_ssize_t small = small_number(object); small >= 0) return static_cast<std::uint32_t>(small);
    const long long number = PyLong_AsLongLong(object);
    if (number < 0 || number > 0xFFFFFFFFLL) {
        PyErr_Clear();
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(number);
}

// A route of other numbers is not held, so that its entries are always news: the router decides.
PyObject* set(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "a route has a destination, a sequence number and a metric");
        return nullptr;
    }
    const auto destination = number_of(args[0]), sequence = number_of(args[1]), metric = number_of(args[2]);
    if (destination && sequence && metric) {
        routes_of(self).set(*destination, *sequence, *metric);
    } else if (destination) {
        routes_of(self).discard(*destination);
    }
    Py_RETURN_NONE;
}

PyObject* discard(PyObject* self, PyObject* destination) {
    if (const auto number = number_of(destination)) routes_of(self).discard(*number);
    Py_RETURN_NONE;
}

// Finds the entries of an update that may change the table. An entry that is not a triple of numbers is one: the router decides.
// So is an entry for the same destination as an earlier one that is.
class NewsFinder {
public:
    explicit NewsFinder(const KnownRoutes& routes) : routes_(routes) {}

    bool is_news(PyObject* entry) {
        if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 3) return true;
        const auto destination = number_of(PyTuple_GET_ITEM(entry, 0)), metric = number_of(PyTuple_GET_ITEM(entry, 1));
        const auto sequence = number_of(PyTuple_GET_ITEM(entry, 2));
        if (!destination || !metric || !sequence) return true;
        if (routes_.is_news(*destination, *metric, *sequence)) {
            changed_.push_back(*destination);
            return true;
        }
        return std::find(changed_.begin(), changed_.end(), *destination) != changed_.end();
    }

private:
    const KnownRoutes& routes_;
    std::vector<KnownRoutes::Node> changed_;
};

PyObject* news(PyObject* self, PyObject* entries) {
    if (!PyTuple_Check(entries)) {
        PyErr_SetString(PyExc_TypeError, "the entries of an update are a tuple");
        return nullptr;
    }
    NewsFinder finder(routes_of(self));
    PyObject* const found = PyList_New(0);
    if (found == nullptr) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); ++i) {
        PyObject* const entry = PyTuple_GET_ITEM(entries, i);
        if (finder.is_news(entry) && PyList_Append(found, entry) < 0) {
            Py_DECREF(found);
            return nullptr;
        }
    }
    return found;
}

PyMethodDef methods[] = {
    {"set", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set)), METH_FASTCALL,
     "Record a route: destination, sequence number, metric."},
    {"discard", discard, METH_O, "Remove the route to a destination."},
    {"news", news, METH_O, "The entries (destination, metric, sequence number) that may change the table."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};

}  // namespace

void bind_known_routes(nb::module_& module) {
    nb::class_<KnownRoutes>(module, "KnownRoutes", nb::type_slots(slots), "Sequence numbers and metrics of a route table.")
        .def(nb::init<std::uint32_t>(), "infinity"_a)
        .def("__len__", &KnownRoutes::size);
}
