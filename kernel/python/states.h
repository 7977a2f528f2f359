// States that routers and the world report of nodes: rows of time, node, name and value.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/columns.h"

namespace roamcast {

namespace nb = nanobind;

class States {
public:
    States() = default;
    States(const States&) = delete;
    States& operator=(const States&) = delete;
    ~States() { clear(); }

    void note(Time time, NodeId node, nb::handle name, double value) {
        if (codes_ == nullptr) return;  // the run is over
        rows_.push_back({time, value, node, code_of(name)});
    }

    nb::dict columns(const Mobility& nodes) const { return state_columns(rows_, nodes); }
    std::size_t size() const { return rows_.size(); }
    void forget() { rows_.clear(); }
    const std::vector<std::string>& names() const { return names_; }

    void clear() { Py_CLEAR(codes_); }

private:
    // Names are few and come again and again as the same strings: looking one up costs no allocation.
    std::uint16_t code_of(nb::handle name) {
        if (!PyUnicode_Check(name.ptr())) refuse(PyExc_TypeError, "a state is named by a string");
        PyObject* const known = PyDict_GetItemWithError(codes_, name.ptr());
        if (known != nullptr) return static_cast<std::uint16_t>(PyLong_AsLong(known));
        if (PyErr_Occurred()) throw nb::python_error();
        if (names_.size() > INT16_MAX) refuse(PyExc_ValueError, "states have too many names; put numbers into the value");
        const auto code = static_cast<std::uint16_t>(names_.size());
        const nb::object number = nb::steal(PyLong_FromLong(code));
        if (PyDict_SetItem(codes_, name.ptr(), number.ptr()) != 0) throw nb::python_error();
        names_.push_back(nb::cast<std::string>(name));
        return code;
    }

    [[noreturn]] static void refuse(PyObject* kind, const char* why) {
        PyErr_SetString(kind, why);
        throw nb::python_error();
    }

    std::vector<StateRow> rows_;
    std::vector<std::string> names_;
    PyObject* codes_ = PyDict_New();  // by name
};

}  // namespace roamcast
