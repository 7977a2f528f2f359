// The fields of an encoded event, read in one call. `roamcast.content.codec.event_reader` has the same in Python, and reads
// every event again that looks unusual here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

enum class Operation { integer, text, real };

struct Field {
    Operation operation;
    bool optional;
    std::int64_t low, high;        // of an integer
    double lowest, highest;        // of a real
};

class EventFields {
public:
    using Step = std::tuple<int, bool, nb::object, nb::object>;

    explicit EventFields(const std::vector<Step>& steps) {
        for (const auto& [operation, optional, low, high] : steps) {
            Field field{static_cast<Operation>(operation), optional, 0, 0, 0, 0};
            if (field.operation == Operation::integer) {
                field.low = nb::cast<std::int64_t>(low);
                field.high = nb::cast<std::int64_t>(high);
            } else if (field.operation == Operation::real) {
                field.lowest = nb::cast<double>(low);
                field.highest = nb::cast<double>(high);
            } else if (field.operation != Operation::text) {
                throw nb::value_error("an operation is 0, 1 or 2");
            }
            fields_.push_back(field);
        }
    }

    // The values of an event, whose bytes begin behind its fingerprint; None if anything is unusual.
    PyObject* read(PyObject* given) const {
        if (!PyBytes_Check(given)) {
            PyErr_SetString(PyExc_TypeError, "an event is bytes");
            return nullptr;
        }
        Bytes bytes{reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(given)),
                    static_cast<std::size_t>(PyBytes_GET_SIZE(given)), fingerprint_bytes};
        nb::object values = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(fields_.size())));
        if (!values.is_valid()) return nullptr;
        for (std::size_t at = 0; at < fields_.size(); ++at) {
            PyObject* value = read_field(bytes, fields_[at]);
            if (value == nullptr) {
                PyErr_Clear();
                Py_RETURN_NONE;
            }
            PyTuple_SET_ITEM(values.ptr(), static_cast<Py_ssize_t>(at), value);
        }
        if (bytes.at != bytes.size) Py_RETURN_NONE;
        return values.release().ptr();
    }

private:
    static constexpr std::size_t fingerprint_bytes = 8;

    struct Bytes {
        const unsigned char* data;
        std::size_t size;
        std::size_t at;

        std::size_t left() const { return at < size ? size - at : 0; }

        // A number in groups of seven bits, without more bytes than necessary, below 2^63; false for others.
        bool number(std::uint64_t& value) {
            value = 0;
            for (unsigned shift = 0; shift < 63 && left() > 0; shift += 7) {
                const unsigned char byte = data[at++];
                value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
                if (byte < 0x80) return byte != 0 || shift == 0;
            }
            return false;
        }
    };

    // A new reference; null, perhaps with an error, if the field is unusual.
    static PyObject* read_field(Bytes& bytes, const Field& field) {
        if (field.optional) {
            if (bytes.left() == 0 || bytes.data[bytes.at] > 1) return nullptr;
            if (bytes.data[bytes.at++] == 0) Py_RETURN_NONE;
        }
        switch (field.operation) {
            case Operation::integer: return read_integer(bytes, field);
            case Operation::text: return read_text(bytes);
            case Operation::real: return read_real(bytes, field);
        }
        return nullptr;
    }

    static PyObject* read_integer(Bytes& bytes, const Field& field) {
        std::uint64_t stored = 0;
        if (!bytes.number(stored)) return nullptr;
        const auto half = static_cast<std::int64_t>(stored >> 1);
        const std::int64_t value = (stored & 1) != 0 ? ~half : half;
        return field.low <= value && value <= field.high ? PyLong_FromLongLong(value) : nullptr;
    }

    static PyObject* read_text(Bytes& bytes) {
        std::uint64_t size = 0;
        if (!bytes.number(size) || size > bytes.left()) return nullptr;
        const unsigned char* text = bytes.data + bytes.at;
        for (std::uint64_t at = 0; at < size; ++at) {
            if (text[at] < 0x20 || text[at] > 0x7E) return nullptr;
        }
        bytes.at += size;
        return PyUnicode_DecodeASCII(reinterpret_cast<const char*>(text), static_cast<Py_ssize_t>(size), nullptr);
    }

    static PyObject* read_real(Bytes& bytes, const Field& field) {
        if (bytes.left() < 8) return nullptr;
        std::uint64_t bits = 0;
        for (int place = 0; place < 8; ++place) bits = bits << 8 | bytes.data[bytes.at++];
        const auto value = std::bit_cast<double>(bits);
        const bool canonical = value != 0 || bits == 0;  // no negative zero
        return canonical && field.lowest <= value && value <= field.highest ? PyFloat_FromDouble(value) : nullptr;
    }

    std::vector<Field> fields_;
};

PyObject* read(PyObject* self, PyObject* data) { return nb::inst_ptr<EventFields>(self)->read(data); }

}  // namespace

void bind_event_fields(nb::module_& module) {
    static PyMethodDef methods[] = {
        {"read", read, METH_O, "Return the values of an encoded event; None if anything is unusual."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
    nb::class_<EventFields>(module, "EventFields", nb::type_slots(slots), "Reads the fields of encoded events of one type.")
        .def(nb::init<const std::vector<EventFields::Step>&>(), "steps"_a);
}
