// Tables of leases (leases.cpp), for other compiled parts of routers.
#pragma once

#include <Python.h>

namespace roamcast {

// Whether an object is a table of leases.
bool is_lease_table(PyObject* object);

// As the method `renew` without a duration: whether the lease is new or had expired; null with a Python error set.
PyObject* renew_lease(PyObject* table, PyObject* key, PyObject* value, double now);

}  // namespace roamcast
