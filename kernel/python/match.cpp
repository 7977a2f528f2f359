// The match index for Python: reads filters and events as roamcast.content stores them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>

#include "match/subscriber_index.h"

namespace nb = nanobind;
using namespace roamcast::match;

namespace {

std::string_view as_text(nb::handle object) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (!data) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

std::int64_t as_number(nb::handle object, bool decimal) {
    if (decimal) {
        const double value = PyFloat_AsDouble(object.ptr());
        if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
        return ordered(value);
    }
    const long long value = PyLong_AsLongLong(object.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

// The names of what is read of a constraint.
struct Names {
    PyObject* absent = PyUnicode_InternFromString("absent");
    PyObject* spans = PyUnicode_InternFromString("spans");
    PyObject* values = PyUnicode_InternFromString("values");
    PyObject* like = PyUnicode_InternFromString("like");
    PyObject* unlike = PyUnicode_InternFromString("unlike");

    static const Names& all() {
        static const Names names;
        return names;
    }
};

nb::object part(nb::handle domain, PyObject* name) {
    PyObject* found = PyObject_GetAttr(domain.ptr(), name);
    if (!found) throw nb::python_error();
    return nb::steal(found);
}

class MatchIndex {
public:
    explicit MatchIndex(const std::string& kinds) : audience_(std::make_unique<SubscriberIndex>(texts(kinds))), kinds_(kinds), event_(kinds.size()) {}
    MatchIndex(const MatchIndex&) = delete;
    MatchIndex& operator=(const MatchIndex&) = delete;
    ~MatchIndex() { let_go(*audience_); }

    std::uint32_t add(nb::handle key, nb::tuple conjunctions) {
        std::vector<Conjunction> read;
        read.reserve(nb::len(conjunctions));
        for (nb::handle each : conjunctions) {
            Conjunction& conjunction = read.emplace_back();
            const nb::tuple constraints = nb::borrow<nb::tuple>(each);
            conjunction.reserve(nb::len(constraints));
            for (nb::handle pair : constraints) read_constraint(nb::borrow<nb::tuple>(pair), conjunction.emplace_back());
        }
        const std::uint32_t member = audience_->add(key.ptr(), read);
        Py_INCREF(key.ptr());
        return member;
    }

    bool remove(std::uint32_t member) {
        void* const key = audience_->remove(member);
        Py_XDECREF(static_cast<PyObject*>(key));
        return key;
    }

    nb::list match(nb::tuple values) {
        read_event(values);
        const std::vector<void*>& chosen = audience_->match(event_);
        const bool collecting = PyGC_Disable();  // a finaliser could let keys go that are only borrowed yet
        nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(chosen.size())));
        if (collecting) PyGC_Enable();
        if (!list.is_valid()) throw nb::python_error();
        for (std::size_t n = 0; n < chosen.size(); ++n) {
            if (n + ahead < chosen.size()) __builtin_prefetch(chosen[n + ahead], 1);
            PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(n), Py_NewRef(static_cast<PyObject*>(chosen[n])));
        }
        return list;
    }

    std::size_t bytes() const { return audience_->bytes(); }

    // For the garbage collector: keys may lead back to their index.
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (!nb::inst_ready(self)) return 0;
        int stopped = 0;
        nb::inst_ptr<MatchIndex>(self)->audience_->visit([&](void* key) {
            if (!stopped) stopped = visit(static_cast<PyObject*>(key), arg);
        });
        return stopped;
    }

    static int clear(PyObject* self) {
        MatchIndex* const index = nb::inst_ptr<MatchIndex>(self);
        auto gone = std::make_unique<SubscriberIndex>(texts(index->kinds_));
        gone.swap(index->audience_);
        let_go(*gone);
        return 0;
    }

private:
    // Keys lie far apart in memory: what is needed so many steps later is fetched now.
    static constexpr std::size_t ahead = 16;

    static void let_go(const SubscriberIndex& audience) {
        audience.visit([](void* key) { Py_DECREF(static_cast<PyObject*>(key)); });
    }

    void read_event(nb::tuple values) {
        if (nb::len(values) != kinds_.size()) throw std::invalid_argument("an event of another type");
        for (std::size_t field = 0; field < kinds_.size(); ++field) {
            PyObject* object = PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(field));
            Value& value = event_[field];
            if (object == Py_None) {
                value.sort = Value::ValueType::missing;
            } else if (kinds_[field] == 't') {
                value.sort = Value::ValueType::text;
                value.text = as_text(object);
            } else {
                value.sort = Value::ValueType::number;
                value.number = as_number(object, kinds_[field] == 'd');
            }
        }
    }

    static std::vector<bool> texts(const std::string& kinds) {
        std::vector<bool> text;
        for (const char kind : kinds) text.push_back(kind == 't');
        return text;
    }

    void read_constraint(nb::tuple pair, Constraint& read) const {
        const Names& names = Names::all();
        read.field = nb::cast<std::uint32_t>(pair[0]);
        if (read.field >= kinds_.size()) throw std::invalid_argument("a filter of another type");
        const char kind = kinds_[read.field];
        nb::handle domain = pair[1];
        read.absent = nb::cast<bool>(part(domain, names.absent));
        if (kind != 't') {
            const nb::tuple spans = nb::borrow<nb::tuple>(part(domain, names.spans));
            read.spans.reserve(nb::len(spans));
            for (nb::handle each : spans) {
                const nb::tuple span = nb::borrow<nb::tuple>(each);
                read.spans.push_back({as_number(span[0], kind == 'd'), as_number(span[1], kind == 'd')});
            }
            return;
        }
        read.text = true;
        const nb::object values = part(domain, names.values);
        if (!values.is_none()) {
            read.listed = true;
            for (nb::handle word : nb::borrow<nb::tuple>(values)) read.words.emplace_back(as_text(word));
            return;
        }
        read.like = globs(part(domain, names.like));
        read.unlike = globs(part(domain, names.unlike));
    }

    static std::vector<Glob> globs(const nb::object& objects) {
        std::vector<Glob> read;
        for (nb::handle glob : nb::borrow<nb::tuple>(objects)) {
            Glob& pieces = read.emplace_back();
            for (nb::handle piece : nb::borrow<nb::tuple>(glob)) pieces.emplace_back(as_text(piece));
        }
        return read;
    }

    std::unique_ptr<SubscriberIndex> audience_;  // each of its keys is owned
    std::string kinds_;
    std::vector<Value> event_;
};

PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(MatchIndex::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(MatchIndex::clear)},
    {0, nullptr},
};

}  // namespace

void bind_match(nb::module_& module) {
    nb::class_<MatchIndex>(module, "MatchIndex", "Finds who wants an event of one type.", nb::type_slots(slots))
        .def(nb::init<const std::string&>(), nb::arg("kinds"), "`kinds` has for each field i (whole number), d (decimal) or t (text).")
        .def("add", &MatchIndex::add, nb::arg("key"), nb::arg("conjunctions"), "Returns the number by which the key leaves.")
        .def("remove", &MatchIndex::remove, nb::arg("number"))
        .def("match", &MatchIndex::match, nb::arg("values"), "The keys whose filter matches.")
        .def("bytes", &MatchIndex::bytes);
}
