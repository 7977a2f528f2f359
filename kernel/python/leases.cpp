// Leases of equal duration as a Python class: routers keep most of what they know under leases, and look something up or
// renew something for each message.
//
// An entry is a tuple of expiry time and value, in a dict in order of renewal, which is the order of expiry. Leases with
// durations of their own need a heap; those methods are in Python (plain_leases.py, where the rules of all of them are).
#include "python/leases.h"

#include <nanobind/nanobind.h>
#include <structmember.h>  // until Python 3.11

#include <cstddef>
#include <vector>

namespace nb = nanobind;

namespace {

struct LeaseTable {
    PyObject_HEAD
    PyObject* entries;  // a dict
    PyObject* heap;     // None while all leases have the same duration
    double duration;
    Py_ssize_t capacity;
    Py_ssize_t order;  // of the items of the heap
};

PyTypeObject* lease_table_type = nullptr;

LeaseTable& table_of(PyObject* self) { return *reinterpret_cast<LeaseTable*>(self); }

double expiry(PyObject* entry) { return PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(entry, 0)); }
PyObject* value_of(PyObject* entry) { return PyTuple_GET_ITEM(entry, 1); }

bool is_equal(const LeaseTable& table) { return table.heap == Py_None; }

bool read_time(PyObject* number, double& time) {
    time = PyFloat_AsDouble(number);
    return !(time == -1.0 && PyErr_Occurred());
}

PyObject* refuse(const char* what) {
    PyErr_SetString(PyExc_TypeError, what);
    return nullptr;
}

// Remove the first entry, if there is one.
bool remove_first(LeaseTable& table) {
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    if (!PyDict_Next(table.entries, &place, &key, nullptr)) return true;
    const nb::object kept = nb::borrow(key);
    return PyDict_DelItem(table.entries, kept.ptr()) == 0;
}

bool start_lease(LeaseTable& table, PyObject* key, PyObject* value, double expires) {
    const nb::object time = nb::steal(PyFloat_FromDouble(expires));
    const nb::object entry = nb::steal(PyTuple_Pack(2, time.ptr(), value));
    return entry.is_valid() && PyDict_SetItem(table.entries, key, entry.ptr()) == 0;
}

// Take an entry out of the table; not valid if there is none, or with a Python error set. Hashing a key may be slow: it is
// hashed once.
nb::object take(LeaseTable& table, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* held = nullptr;
    PyDict_Pop(table.entries, key, &held);
    return nb::steal(held);
#else
    const nb::object held = nb::steal(_PyDict_Pop(table.entries, key, Py_None));
    return held.is_none() ? nb::object() : held;
#endif
}

// 1 if the lease is new or had expired, 0 if not, -1 with a Python error set.
int renew_equal(LeaseTable& table, PyObject* key, PyObject* value, double now) {
    const nb::object held = take(table, key);
    if (PyErr_Occurred()) return -1;
    const bool grows = !held.is_valid();
    const bool begins = grows || expiry(held.ptr()) <= now;
    if (!start_lease(table, key, value, now + table.duration)) return -1;
    if (grows && PyDict_GET_SIZE(table.entries) > table.capacity && !remove_first(table)) return -1;
    return begins ? 1 : 0;
}

PyObject* renew(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 3 && count != 4) return refuse("renew takes a key, a value, the time and perhaps a duration");
    LeaseTable& table = table_of(self);
    double now = 0;
    if (!read_time(args[2], now)) return nullptr;
    if (is_equal(table) && (count == 3 || args[3] == Py_None)) {
        const int begins = renew_equal(table, args[0], args[1], now);
        return begins < 0 ? nullptr : PyBool_FromLong(begins);
    }
    const nb::object held = take(table, args[0]);
    if (PyErr_Occurred()) return nullptr;
    const bool begins = !held.is_valid() || expiry(held.ptr()) <= now;
    double duration = table.duration;
    if (count == 4 && args[3] != Py_None && !read_time(args[3], duration)) return nullptr;
    const nb::object done = nb::steal(PyObject_CallMethod(self, "_renew_unequal", "OOd", args[0], args[1], now + duration));
    return done.is_valid() ? PyBool_FromLong(begins) : nullptr;
}

PyObject* begin(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 3) return refuse("begin takes a key, a value and the time");
    LeaseTable& table = table_of(self);
    double now = 0;
    if (!read_time(args[2], now)) return nullptr;
    if (is_equal(table) && PyDict_GET_SIZE(table.entries) < table.capacity) {
        const nb::object time = nb::steal(PyFloat_FromDouble(now + table.duration));
        const nb::object lease = nb::steal(PyTuple_Pack(2, time.ptr(), args[1]));
        PyObject* const held = PyDict_SetDefault(table.entries, args[0], lease.ptr());
        if (held == nullptr) return nullptr;
        if (held == lease.ptr()) Py_RETURN_TRUE;
        if (expiry(held) > now) Py_RETURN_FALSE;
        return renew(self, args, count);
    }
    PyObject* const held = PyDict_GetItemWithError(table.entries, args[0]);
    if (held == nullptr && PyErr_Occurred()) return nullptr;
    if (held != nullptr && expiry(held) > now) Py_RETURN_FALSE;
    return renew(self, args, count);
}

PyObject* get(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) return refuse("get takes a key and the time");
    PyObject* const held = PyDict_GetItemWithError(table_of(self).entries, args[0]);
    double now = 0;
    if ((held == nullptr && PyErr_Occurred()) || !read_time(args[1], now)) return nullptr;
    return Py_NewRef(held != nullptr && expiry(held) > now ? value_of(held) : Py_None);
}

// The valid leases in order of renewal, each as `made` of its key and entry.
template <typename Make>
PyObject* valid(PyObject* self, PyObject* time, Make made) {
    double now = 0;
    if (!read_time(time, now)) return nullptr;
    const nb::object out = nb::steal(PyList_New(0));
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    PyObject* entry = nullptr;
    while (out.is_valid() && PyDict_Next(table_of(self).entries, &place, &key, &entry)) {
        if (expiry(entry) <= now) continue;
        const nb::object each = made(key, entry);
        if (!each.is_valid() || PyList_Append(out.ptr(), each.ptr()) != 0) return nullptr;
    }
    return Py_XNewRef(out.ptr());
}

PyObject* items(PyObject* self, PyObject* now) {
    return valid(self, now, [](PyObject* key, PyObject* entry) { return nb::steal(PyTuple_Pack(2, key, value_of(entry))); });
}

PyObject* values(PyObject* self, PyObject* now) {
    return valid(self, now, [](PyObject*, PyObject* entry) { return nb::borrow(value_of(entry)); });
}

PyObject* sweep(PyObject* self, PyObject* time) {
    LeaseTable& table = table_of(self);
    double now = 0;
    if (!read_time(time, now)) return nullptr;
    if (!is_equal(table)) return PyObject_CallMethod(self, "_sweep_unequal", "O", time);
    std::vector<nb::object> expired;
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    PyObject* entry = nullptr;
    while (PyDict_Next(table.entries, &place, &key, &entry) && expiry(entry) <= now) expired.push_back(nb::borrow(key));
    for (const nb::object& each : expired) {
        if (PyDict_DelItem(table.entries, each.ptr()) != 0) return nullptr;
    }
    Py_RETURN_NONE;
}

PyObject* discard(PyObject* self, PyObject* key) {
    const int held = PyDict_Contains(table_of(self).entries, key);
    if (held < 0 || (held == 1 && PyDict_DelItem(table_of(self).entries, key) != 0)) return nullptr;
    Py_RETURN_NONE;
}

PyObject* first(PyObject* self, PyObject*) {
    LeaseTable& table = table_of(self);
    if (!is_equal(table)) return PyObject_CallMethod(self, "_first_unequal", nullptr);
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    PyObject* entry = nullptr;
    if (!PyDict_Next(table.entries, &place, &key, &entry)) Py_RETURN_NONE;
    return PyTuple_Pack(2, key, PyTuple_GET_ITEM(entry, 0));
}

PyObject* keys(PyObject* self, PyObject*) { return PyObject_CallMethod(table_of(self).entries, "keys", nullptr); }

Py_ssize_t length(PyObject* self) { return PyDict_GET_SIZE(table_of(self).entries); }
int contains(PyObject* self, PyObject* key) { return PyDict_Contains(table_of(self).entries, key); }
PyObject* iterate(PyObject* self) { return PyObject_GetIter(table_of(self).entries); }

int initialise(PyObject* self, PyObject* args, PyObject* named) {
    const char* names[] = {"duration", "capacity", nullptr};
    LeaseTable& table = table_of(self);
    return PyArg_ParseTupleAndKeywords(args, named, "dn", const_cast<char**>(names), &table.duration, &table.capacity) ? 0 : -1;
}

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* const self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    table_of(self).heap = Py_NewRef(Py_None);
    table_of(self).entries = PyDict_New();
    if (table_of(self).entries != nullptr) return self;
    Py_DECREF(self);
    return nullptr;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(table_of(self).entries);
    Py_VISIT(table_of(self).heap);
    return 0;
}

// The entries stay, emptied: a finalizer may still look something up.
int clear(PyObject* self) {
    if (table_of(self).entries != nullptr) PyDict_Clear(table_of(self).entries);
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(table_of(self).entries);
    Py_CLEAR(table_of(self).heap);
    type->tp_free(self);
    Py_DECREF(type);
}

template <typename Function>
PyCFunction plain(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"renew", plain(renew), METH_FASTCALL, "Start or restart a lease; return whether it is new or had expired."},
    {"begin", plain(begin), METH_FASTCALL, "Start a lease unless there is a valid one; return whether it was started."},
    {"get", plain(get), METH_FASTCALL, "The value of a key, or None if it has no valid lease."},
    {"items", items, METH_O, "The keys and values of all valid leases, in order of renewal."},
    {"values", values, METH_O, "The values of all valid leases, in order of renewal."},
    {"sweep", sweep, METH_O, "Remove all leases that have expired."},
    {"discard", discard, METH_O, "Remove a lease, if there is one."},
    {"first", first, METH_NOARGS, "Key and expiry time of the lease that expires first, or None."},
    {"keys", keys, METH_NOARGS, "A live view of all keys, those of expired leases included."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"_entries", T_OBJECT_EX, offsetof(LeaseTable, entries), READONLY, nullptr},
    {"_heap", T_OBJECT_EX, offsetof(LeaseTable, heap), 0, nullptr},
    {"duration", T_DOUBLE, offsetof(LeaseTable, duration), 0, nullptr},
    {"capacity", T_PYSSIZET, offsetof(LeaseTable, capacity), 0, nullptr},
    {"_order", T_PYSSIZET, offsetof(LeaseTable, order), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Values that are valid for a time after their last renewal.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_init, reinterpret_cast<void*>(initialise)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {0, nullptr},
};

PyType_Spec spec = {"roamcast._kernel.LeaseTable", sizeof(LeaseTable), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

namespace roamcast {

bool is_lease_table(PyObject* object) { return PyObject_TypeCheck(object, lease_table_type); }

PyObject* renew_lease(PyObject* table, PyObject* key, PyObject* value, double now) {
    if (is_equal(table_of(table))) {
        const int begins = renew_equal(table_of(table), key, value, now);
        return begins < 0 ? nullptr : PyBool_FromLong(begins);
    }
    const nb::object time = nb::steal(PyFloat_FromDouble(now));
    PyObject* const given[] = {key, value, time.ptr()};
    return renew(table, given, 3);
}

}  // namespace roamcast

void bind_leases(nb::module_& module) {
    lease_table_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (lease_table_type == nullptr) throw nb::python_error();
    module.attr("LeaseTable") = nb::handle(reinterpret_cast<PyObject*>(lease_table_type));
}
