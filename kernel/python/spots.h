// Positions in whole centimetres as Python has them: pairs, or instances of a class of pairs.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cmath>

#include "routing/neighbour_positions.h"

namespace roamcast {

// Read a pair of whole numbers; if it is none, return false with a Python error set.
inline bool read_spot(PyObject* place, PointCm& spot) {
    if (!PyTuple_Check(place) || PyTuple_GET_SIZE(place) != 2) {
        PyErr_SetString(PyExc_TypeError, "a place is a pair of whole numbers");
        return false;
    }
    spot = {PyLong_AsLongLong(PyTuple_GET_ITEM(place, 0)), PyLong_AsLongLong(PyTuple_GET_ITEM(place, 1))};
    return !((spot.x == -1 || spot.y == -1) && PyErr_Occurred());
}

// Make an instance of a class of pairs as that class would, but without the call; null with a Python error set.
inline PyObject* new_spot(PyTypeObject* kind, PointCm spot) {
    PyObject* const made = kind->tp_alloc(kind, 2);
    if (made == nullptr) return nullptr;
    PyTuple_SET_ITEM(made, 0, PyLong_FromLongLong(spot.x));
    PyTuple_SET_ITEM(made, 1, PyLong_FromLongLong(spot.y));
    return made;
}

// The nearest whole centimetre, of two the even one, within `farthest` of the origin; nan is the origin.
inline std::int64_t centimetres(double metres, double farthest) {
    const double exact = 100 * metres;
    return std::isnan(exact) ? 0 : std::llrint(std::min(std::max(exact, -farthest), farthest));
}

}  // namespace roamcast
