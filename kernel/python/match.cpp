// The match index for Python: reads filters and events as roamcast.content stores them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <stdexcept>

#include "match/index.h"

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

class MatchIndex {
public:
    explicit MatchIndex(const std::string& kinds) : index_(texts(kinds)), kinds_(kinds), event_(kinds.size()) {}

    void add(std::uint32_t filter, nb::tuple conjunctions) {
        std::vector<Conjunction> read;
        read.reserve(nb::len(conjunctions));
        for (nb::handle each : conjunctions) {
            Conjunction& conjunction = read.emplace_back();
            for (nb::handle pair : nb::borrow<nb::tuple>(each)) conjunction.push_back(constraint(nb::borrow<nb::tuple>(pair)));
        }
        index_.add(filter, read);
    }

    bool remove(std::uint32_t filter) { return index_.remove(filter); }

    // The items of `keys` at the numbers of the filters that match; with `shared`, an index of filters that several
    // want, also all items of the lists in `groups` at the numbers that match there.
    nb::list match(nb::tuple values, nb::list keys, MatchIndex* shared, nb::list groups) {
        if (shared && shared->kinds_ != kinds_) throw std::invalid_argument("an index of another type");
        read(values);
        chosen_.clear();
        choose(index_.match(event_), keys);
        if (shared) choose_all(shared->index_.match(event_), groups);
        const bool collecting = PyGC_Disable();  // a finaliser could let keys go that are only borrowed yet
        nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(chosen_.size())));
        if (collecting) PyGC_Enable();
        if (!list.is_valid()) throw nb::python_error();
        for (std::size_t n = 0; n < chosen_.size(); ++n) {
            if (n + ahead < chosen_.size()) __builtin_prefetch(chosen_[n + ahead], 1);
            PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(n), Py_NewRef(chosen_[n]));
        }
        return list;
    }

    std::size_t bytes() const { return index_.bytes() + chosen_.capacity() * sizeof(PyObject*); }

private:
    // Keys lie far apart in memory: what is needed so many steps later is fetched now.
    static constexpr std::size_t ahead = 16;

    static PyListObject* items(nb::handle list) { return reinterpret_cast<PyListObject*>(list.ptr()); }

    void read(nb::tuple values) {
        if (nb::len(values) != kinds_.size()) throw std::invalid_argument("an event of another type");
        for (std::size_t field = 0; field < kinds_.size(); ++field) {
            PyObject* object = PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(field));
            Value& value = event_[field];
            if (object == Py_None) {
                value.sort = Value::Sort::missing;
            } else if (kinds_[field] == 't') {
                value.sort = Value::Sort::text;
                value.text = as_text(object);
            } else {
                value.sort = Value::Sort::number;
                value.number = as_number(object, kinds_[field] == 'd');
            }
        }
    }

    void choose(const std::vector<std::uint32_t>& found, nb::list keys) {
        PyObject** const from = items(keys)->ob_item;
        const std::size_t known = nb::len(keys);
        chosen_.reserve(found.size());
        for (std::size_t n = 0; n < found.size(); ++n) {
            if (found[n] >= known) throw std::out_of_range("a filter without a key");
            if (n + ahead < found.size()) __builtin_prefetch(from + found[n + ahead]);
            chosen_.push_back(from[found[n]]);
        }
    }

    // A list is three steps away from its items: its place among the groups, itself, and where its items stand.
    void choose_all(const std::vector<std::uint32_t>& found, nb::list groups) {
        PyObject** const from = items(groups)->ob_item;
        const std::size_t known = nb::len(groups);
        const auto group = [&](std::size_t n) {
            if (found[n] >= known || !PyList_CheckExact(from[found[n]])) throw std::out_of_range("a filter without a list of keys");
            return items(from[found[n]]);
        };
        for (std::size_t n = 0; n < found.size(); ++n) {
            if (n + 2 * ahead < found.size() && found[n + 2 * ahead] < known) __builtin_prefetch(from[found[n + 2 * ahead]]);
            if (n + ahead < found.size()) __builtin_prefetch(group(n + ahead)->ob_item);
            const PyListObject* const each = group(n);
            chosen_.insert(chosen_.end(), each->ob_item, each->ob_item + Py_SIZE(each));
        }
    }

    static std::vector<bool> texts(const std::string& kinds) {
        std::vector<bool> text;
        for (const char kind : kinds) text.push_back(kind == 't');
        return text;
    }

    Constraint constraint(nb::tuple pair) const {
        Constraint read;
        read.field = nb::cast<std::uint32_t>(pair[0]);
        if (read.field >= kinds_.size()) throw std::invalid_argument("a filter of another type");
        const char kind = kinds_[read.field];
        nb::handle domain = pair[1];
        read.absent = nb::cast<bool>(nb::getattr(domain, "absent"));
        if (kind != 't') {
            for (nb::handle each : nb::borrow<nb::tuple>(nb::getattr(domain, "spans"))) {
                const nb::tuple span = nb::borrow<nb::tuple>(each);
                read.spans.push_back({as_number(span[0], kind == 'd'), as_number(span[1], kind == 'd')});
            }
            return read;
        }
        read.text = true;
        const nb::object values = nb::getattr(domain, "values");
        if (!values.is_none()) {
            read.listed = true;
            for (nb::handle word : nb::borrow<nb::tuple>(values)) read.words.emplace_back(as_text(word));
            return read;
        }
        read.like = globs(nb::getattr(domain, "like"));
        read.unlike = globs(nb::getattr(domain, "unlike"));
        return read;
    }

    static std::vector<Glob> globs(const nb::object& objects) {
        std::vector<Glob> read;
        for (nb::handle glob : nb::borrow<nb::tuple>(objects)) {
            Glob& pieces = read.emplace_back();
            for (nb::handle piece : nb::borrow<nb::tuple>(glob)) pieces.emplace_back(as_text(piece));
        }
        return read;
    }

    Index index_;
    std::string kinds_;
    std::vector<Value> event_;
    std::vector<PyObject*> chosen_;  // borrowed, while one event is matched
};

}  // namespace

void bind_match(nb::module_& module) {
    nb::class_<MatchIndex>(module, "MatchIndex", "Finds the filters of one event type that match an event.")
        .def(nb::init<const std::string&>(), nb::arg("kinds"), "`kinds` has for each field i (whole number), d (decimal) or t (text).")
        .def("add", &MatchIndex::add, nb::arg("filter"), nb::arg("conjunctions"))
        .def("remove", &MatchIndex::remove, nb::arg("filter"))
        .def("match", &MatchIndex::match, nb::arg("values"), nb::arg("keys"), nb::arg("shared") = nb::none(), nb::arg("groups") = nb::list())
        .def("bytes", &MatchIndex::bytes);
}
