// The declarations of Python's message classes: name, category, publication, and the attribute that identifies a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace roamcast {

namespace nb = nanobind;

// The class of errors of routers that violate their interface; its arguments are the node and the violation.
inline PyObject*& broken_contract() {
    static PyObject* type = nullptr;
    return type;
}

// Set the Python error that the router of a node has broken its contract; the format is that of PyUnicode_FromFormat.
template <typename... Values>
void raise_broken_contract(std::uint32_t node, const char* format, Values... values) {
    PyObject* const what = PyUnicode_FromFormat(format, values...);
    PyObject* const arguments = what == nullptr ? nullptr : Py_BuildValue("(IN)", node, what);
    if (arguments == nullptr) return;
    PyErr_SetObject(broken_contract(), arguments);
    Py_DECREF(arguments);
}

inline std::int64_t integer_attribute(PyObject* object, PyObject* name) {
    PyObject* const value = PyObject_GetAttr(object, name);
    if (value == nullptr) throw nb::python_error();
    const std::int64_t number = PyLong_AsLongLong(value);
    Py_DECREF(value);
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    return number;
}

// The columns of the facts about one message; of an envelope, about the message in it.
struct MessageInfo {
    std::uint16_t kind = 0;
    std::uint8_t category = 0;
    std::int64_t about = -1;
    PyObject* key = nullptr;  // the attribute by which routers remember it, borrowed; null if they do not
    bool key_is_about = false;
};

// Message classes, each read once. An attribute that a class has as a plain number is the same for all its messages.
class MessageKinds {
public:
    MessageKinds() = default;
    MessageKinds(const MessageKinds&) = delete;
    MessageKinds& operator=(const MessageKinds&) = delete;
    ~MessageKinds() { clear(); }

    // The classes that may be met, as a set; any by default.
    void declare(nb::object classes) { declared_ = std::move(classes); }

    // `node` is named in the error if the class is not declared.
    MessageInfo of(nb::handle message, std::uint32_t node) {
        const MessageKind* kind = &find(message, node);
        if (kind->envelope == nullptr) return read(*kind, message.ptr());
        const nb::object inside = nb::steal(PyObject_GetAttr(message.ptr(), kind->envelope));
        if (!inside.is_valid()) throw nb::python_error();
        kind = &find(inside, node);
        MessageInfo meaning = read(*kind, inside.ptr());
        meaning.key = nullptr;  // a letter is not the message that it holds: a copy of it may be for someone else
        return meaning;
    }

    const std::vector<std::string>& names() const { return names_; }

    void clear() {
        for (auto& [type, kind] : kinds_) {
            Py_DECREF(type);
            Py_XDECREF(kind.envelope);
            Py_XDECREF(kind.key);
        }
        kinds_.clear();
        declared_.reset();
    }

private:
    struct MessageKind {
        std::uint16_t number = 0;
        std::uint8_t category = 0;
        bool category_varies = false;
        bool about_varies = false;
        std::int64_t about = -1;
        bool key_is_about = false;
        PyObject* key = nullptr;
        PyObject* envelope = nullptr;
    };

    MessageInfo read(const MessageKind& kind, PyObject* message) const {
        MessageInfo meaning;
        meaning.kind = kind.number;
        meaning.category = kind.category_varies ? static_cast<std::uint8_t>(integer_attribute(message, category_)) : kind.category;
        meaning.about = kind.about_varies ? integer_attribute(message, about_) : kind.about;
        meaning.key = kind.key;
        meaning.key_is_about = kind.key_is_about;
        return meaning;
    }

    const MessageKind& find(nb::handle message, std::uint32_t node) {
        PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(message.ptr()));
        const auto found = kinds_.find(type);
        if (found != kinds_.end()) return found->second;
        const nb::handle declared(type);
        if (declared_.is_valid() && PySet_Contains(declared_.ptr(), type) != 1) {
            raise_broken_contract(node, "it sends %R, a kind of message that its `messages` do not declare", type);
            throw nb::python_error();
        }
        MessageKind kind;
        kind.number = static_cast<std::uint16_t>(names_.size());
        const nb::object category = declared.attr("category");
        kind.category_varies = !PyLong_Check(category.ptr());
        if (!kind.category_varies) kind.category = static_cast<std::uint8_t>(PyLong_AsLong(category.ptr()));
        const nb::object about = declared.attr("publication_id");
        kind.about_varies = !PyLong_Check(about.ptr());
        if (!kind.about_varies) kind.about = PyLong_AsLongLong(about.ptr());
        kind.key = name_of(nb::getattr(declared, "dedup_field", nb::none()));
        kind.key_is_about = kind.key != nullptr && PyUnicode_Compare(kind.key, about_) == 0;
        kind.envelope = name_of(nb::getattr(declared, "envelope", nb::none()));
        names_.push_back(nb::cast<std::string>(declared.attr("__name__")));
        Py_INCREF(type);
        return kinds_.emplace(type, kind).first->second;
    }

    static PyObject* name_of(const nb::object& text) {
        if (text.is_none()) return nullptr;
        PyObject* name = Py_NewRef(text.ptr());
        PyUnicode_InternInPlace(&name);
        return name;
    }

    std::unordered_map<PyObject*, MessageKind> kinds_;
    std::vector<std::string> names_;
    nb::object declared_;  // not valid: any class
    PyObject* category_ = PyUnicode_InternFromString("category");
    PyObject* about_ = PyUnicode_InternFromString("publication_id");
};

}  // namespace roamcast
