// Where neighbours are, as a Python class. Every message heard renews one, so its methods are as CPython's own types
// have them, which cost about half as much to call as bound C++ functions.
#include "routing/neighbour_positions.h"

#include <nanobind/nanobind.h>

#include <array>

#include "python/spots.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using roamcast::centimetres;
using roamcast::NeighbourPositions;
using roamcast::new_spot;
using roamcast::PointCm;
using roamcast::read_spot;

NeighbourPositions& places_of(PyObject* self) { return *nb::inst_ptr<NeighbourPositions>(self); }

// Arguments as numbers and places; after a failure a Python error is set.
class ArgumentReader {
public:
    ArgumentReader(PyObject* const* args, Py_ssize_t count, Py_ssize_t wanted) : args_(args), count_(count), good(count == wanted) {
        if (!good) PyErr_Format(PyExc_TypeError, "%zd arguments where %zd are taken", count, wanted);
    }

    NeighbourPositions::Node node() {
        const long long number = PyLong_AsLongLong(next());
        good = good && !(number == -1 && PyErr_Occurred());
        return number;
    }

    double time() {
        const double seconds = PyFloat_AsDouble(next());
        good = good && !(seconds == -1.0 && PyErr_Occurred());
        return seconds;
    }

    PointCm spot() {
        PointCm found{};
        good = good && read_spot(next(), found);
        return found;
    }

    bool nothing() const { return taken_ < count_ && args_[taken_] == Py_None; }
    void skip() { ++taken_; }

private:
    PyObject* next() { return taken_ < count_ ? args_[taken_++] : Py_None; }

    PyObject* const* args_;
    Py_ssize_t count_;
    Py_ssize_t taken_ = 0;

public:
    bool good;
};

PyObject* pair(PointCm spot) { return Py_BuildValue("(LL)", static_cast<long long>(spot.x), static_cast<long long>(spot.y)); }

PyObject* node_or_none(std::optional<NeighbourPositions::Node> node) {
    if (!node) Py_RETURN_NONE;
    return PyLong_FromLongLong(*node);
}

PyObject* renew(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 3);
    const NeighbourPositions::Node node = given.node();
    const PointCm spot = given.good ? given.spot() : PointCm{};
    const double now = given.good ? given.time() : 0;
    if (!given.good) return nullptr;
    places_of(self).renew(node, spot, now);
    Py_RETURN_NONE;
}

PyObject* discard(PyObject* self, PyObject* node) {
    const long long number = PyLong_AsLongLong(node);
    if (number == -1 && PyErr_Occurred()) return nullptr;
    places_of(self).discard(number);
    Py_RETURN_NONE;
}

PyObject* sweep(PyObject* self, PyObject* now) {
    const double seconds = PyFloat_AsDouble(now);
    if (seconds == -1.0 && PyErr_Occurred()) return nullptr;
    places_of(self).sweep(seconds);
    Py_RETURN_NONE;
}

const NeighbourPositions::PositionEntry* find(PyObject* self, PyObject* const* args, Py_ssize_t count, bool& good) {
    ArgumentReader given(args, count, 2);
    const NeighbourPositions::Node node = given.node();
    const double now = given.good ? given.time() : 0;
    good = given.good;
    return good ? places_of(self).find(node, now) : nullptr;
}

PyObject* has(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    bool good = true;
    const NeighbourPositions::PositionEntry* const found = find(self, args, count, good);
    return good ? PyBool_FromLong(found != nullptr) : nullptr;
}

PyObject* get(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    bool good = true;
    const NeighbourPositions::PositionEntry* const found = find(self, args, count, good);
    if (!good) return nullptr;
    if (found == nullptr) Py_RETURN_NONE;
    return pair(found->spot);
}

PyObject* nodes(PyObject* self, PyObject* now) {
    const double seconds = PyFloat_AsDouble(now);
    if (seconds == -1.0 && PyErr_Occurred()) return nullptr;
    nb::list out;
    for (const NeighbourPositions::PositionEntry& entry : places_of(self).entries()) {
        if (entry.expires > seconds) out.append(entry.node);
    }
    return out.release().ptr();
}

PyObject* nearer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 3);
    const PointCm here = given.spot();
    const PointCm goal = given.good ? given.spot() : PointCm{};
    const double now = given.good ? given.time() : 0;
    return given.good ? node_or_none(places_of(self).nearer(here, goal, now)) : nullptr;
}

PyObject* choose(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 6);
    const NeighbourPositions::Node destination = given.node();
    const PointCm here = given.good ? given.spot() : PointCm{};
    const PointCm goal = given.good ? given.spot() : PointCm{};
    const std::int64_t radius = given.good ? given.node() : 0;
    const bool greedy = given.nothing();
    const PointCm entered = given.good && !greedy ? given.spot() : PointCm{};
    if (greedy) given.skip();
    const double now = given.good ? given.time() : 0;
    if (!given.good) return nullptr;
    return PyLong_FromLongLong(places_of(self).choose(destination, here, goal, radius, greedy ? nullptr : &entered, now));
}

// A position in metres as one of a class of pairs of whole centimetres, made as that class would, but without the call.
PyObject* rounded(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 3 || !PyTuple_Check(args[0]) || PyTuple_GET_SIZE(args[0]) != 2 || !PyType_Check(args[1]) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(args[1]), &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "rounded takes a position, the class of places, and how far they reach");
        return nullptr;
    }
    const double x = PyFloat_AsDouble(PyTuple_GET_ITEM(args[0], 0));
    const double y = PyFloat_AsDouble(PyTuple_GET_ITEM(args[0], 1));
    const double farthest = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return nullptr;
    return new_spot(reinterpret_cast<PyTypeObject*>(args[1]), {centimetres(x, farthest), centimetres(y, farthest)});
}

PyObject* planarise(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 3);
    const PointCm here = given.spot();
    const double now = given.good ? given.time() : 0;
    if (!given.good) return nullptr;
    places_of(self).planarise(here, now, PyObject_IsTrue(args[2]) == 1);
    Py_RETURN_NONE;
}

PyObject* edges(PyObject* self, PyObject*) {
    nb::list out;
    for (const NeighbourPositions::PositionEntry& edge : places_of(self).edges()) out.append(edge.node);
    return out.release().ptr();
}

PyObject* next_edge(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 3);
    const PointCm here = given.spot();
    const PointCm towards = given.good ? given.spot() : PointCm{};
    std::optional<NeighbourPositions::Node> after;
    if (given.good && !given.nothing()) after = given.node();
    return given.good ? node_or_none(places_of(self).next_edge(here, towards, after)) : nullptr;
}

PyObject* change_face(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 5);
    std::array<PointCm, 4> spots{};
    for (PointCm& spot : spots) {
        if (given.good) spot = given.spot();
    }
    const NeighbourPositions::Node hop = given.good ? given.node() : 0;
    if (!given.good) return nullptr;
    const NeighbourPositions::PerimeterHop turn = places_of(self).change_face(spots[0], spots[1], spots[2], spots[3], hop);
    if (!turn.crossed) return Py_BuildValue("(LO)", static_cast<long long>(turn.hop), Py_None);
    return Py_BuildValue("(LN)", static_cast<long long>(turn.hop), pair(*turn.crossed));
}

PyObject* crossing(PyObject*, PyObject* const* args, Py_ssize_t count) {
    ArgumentReader given(args, count, 4);
    std::array<PointCm, 4> spots{};
    for (PointCm& spot : spots) {
        if (given.good) spot = given.spot();
    }
    if (!given.good) return nullptr;
    const std::optional<PointCm> cut = roamcast::crossing(spots[0], spots[1], spots[2], spots[3]);
    if (!cut) Py_RETURN_NONE;
    return pair(*cut);
}

template <typename Function>
PyCFunction plain(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"renew", plain(renew), METH_FASTCALL, "Note where a neighbour is: node, place, time."},
    {"discard", discard, METH_O, "Forget a neighbour."},
    {"sweep", sweep, METH_O, "Forget those unheard for too long."},
    {"has", plain(has), METH_FASTCALL, "Whether a node is a neighbour: node, time."},
    {"get", plain(get), METH_FASTCALL, "Where a neighbour is, or None: node, time."},
    {"nodes", nodes, METH_O, "The neighbours, in the order in which they were heard."},
    {"nearer", plain(nearer), METH_FASTCALL, "The neighbour nearest to a goal, if nearer than here: here, goal, time."},
    {"choose", plain(choose), METH_FASTCALL,
     "Where greedy forwarding goes, or why it does not: destination, here, goal, radius, entered or None, time."},
    {"rounded", plain(rounded), METH_FASTCALL | METH_STATIC, "A position in whole centimetres: position, class, farthest."},
    {"planarise", plain(planarise), METH_FASTCALL, "Choose the edges of a planar graph: here, time, whether relative."},
    {"edges", edges, METH_NOARGS, "The neighbours over edges of the planar graph."},
    {"next_edge", plain(next_edge), METH_FASTCALL, "The next edge counter-clockwise: here, towards, after."},
    {"change_face", plain(change_face), METH_FASTCALL,
     "The hop, and where the line to the goal was crossed for it: here, goal, entered, crossed, hop."},
    {"crossing", plain(crossing), METH_FASTCALL | METH_STATIC, "Where two lines cut each other, or None."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};

}  // namespace

void bind_places(nb::module_& module) {
    nb::class_<NeighbourPositions>(module, "Places", nb::type_slots(slots), "Where neighbours are, and the way on from there.")
        .def(nb::init<double, std::size_t>(), "duration"_a, "capacity"_a)
        .def("__len__", &NeighbourPositions::size);
    module.attr("TAKEN") = NeighbourPositions::taken;
    module.attr("STUCK") = NeighbourPositions::stuck;
    module.attr("AROUND") = NeighbourPositions::around;
}
