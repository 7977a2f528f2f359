// What a router has seen, as a Python class.
#include "routing/seen.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Of a number beyond 64 bits the low ones count.
std::uint64_t low_bits(nb::int_ number) { return PyLong_AsUnsignedLongLongMask(number.ptr()); }

}  // namespace

void bind_seen(nb::module_& module) {
    using roamcast::Seen;
    nb::class_<Seen>(module, "Seen", "Numbers that have come by: a bounded set that forgets the oldest first.")
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("add", [](Seen& seen, nb::int_ number) { return seen.add(low_bits(number)); })
        .def("__contains__", [](const Seen& seen, nb::int_ number) { return seen.contains(low_bits(number)); })
        .def("__len__", &Seen::size);
}
