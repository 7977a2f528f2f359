// Fields of Python's message classes, read where they are in the object.
#pragma once

#include <nanobind/nanobind.h>
#include <structmember.h>  // until Python 3.11

namespace roamcast {

// A field of a class with slots, such as a msgspec Struct. The class names its place once; reading by name would cost
// several times as much for each of a packet's nine fields.
class StructField {
public:
    StructField(nanobind::handle type, const char* name) {
        const nanobind::object member = type.attr(name);
        if (!Py_IS_TYPE(member.ptr(), &PyMemberDescr_Type)) {
            throw nanobind::type_error("a packet's class must keep its fields in slots");
        }
        offset_ = reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member->offset;
    }

    // Borrowed; the object must be an instance of the class.
    PyObject* of(PyObject* object) const {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_);
    }

    long long integer_of(PyObject* object) const { return PyLong_AsLongLong(of(object)); }

private:
    Py_ssize_t offset_;
};

}  // namespace roamcast
