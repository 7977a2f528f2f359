// Frames of senders that a live node knows, opened in one call: the header, the replay window, and the cipher, which is a
// Python function. `roamcast.live.security.frame` has the same in Python, and does everything else.
#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "routing/replay_window.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using roamcast::ReplayWindow;

constexpr std::size_t prefix_bytes = 9;  // version, network, protocol
constexpr std::size_t sender_at = 9;
constexpr std::size_t epoch_at = 13;
constexpr std::size_t counter_at = 21;
constexpr std::size_t header_bytes = 29;
constexpr std::size_t tag_bytes = 16;

std::uint64_t read_number(const char* data, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < bytes; ++at) number = number << 8 | static_cast<unsigned char>(data[at]);
    return number;
}

class FrameOpener {
public:
    FrameOpener(const nb::bytes& prefix, nb::type_object frame, nb::object invalid)
        : frame_(std::move(frame)), invalid_(std::move(invalid)) {
        if (prefix.size() != prefix_bytes) throw nb::value_error("the prefix of a frame has 9 bytes");
        if (!PyType_IsSubtype(type(), &PyTuple_Type)) throw nb::type_error("a frame is a tuple");
        std::memcpy(prefix_.data(), prefix.c_str(), prefix_bytes);
    }

    void admit(std::uint32_t sender, std::uint64_t epoch, nb::object decrypt, nb::object window) {
        ReplayWindow* accepted = nb::cast<ReplayWindow*>(window);
        senders_.insert_or_assign(sender, Sender{epoch, std::move(decrypt), std::move(window), accepted});
    }

    void forget(std::uint32_t sender) { senders_.erase(sender); }

    // The frame; None if it is not for this short way, False if it is not authentic.
    PyObject* open(PyObject* given) {
        if (!PyBytes_Check(given)) {
            PyErr_SetString(PyExc_TypeError, "a datagram is bytes");
            return nullptr;
        }
        const char* data = PyBytes_AS_STRING(given);
        const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(given));
        if (size < header_bytes + tag_bytes || std::memcmp(data, prefix_.data(), prefix_bytes) != 0) Py_RETURN_NONE;
        const auto sender = static_cast<std::uint32_t>(read_number(data + sender_at, 4));
        const auto found = senders_.find(sender);
        if (found == senders_.end() || found->second.epoch != read_number(data + epoch_at, 8)) Py_RETURN_NONE;
        const std::uint64_t counter = read_number(data + counter_at, 8);
        if (found->second.accepted->has(counter)) Py_RETURN_NONE;
        const Sender known = found->second;  // stays while Python code runs

        std::array<char, 12> nonce;
        std::memcpy(nonce.data(), data + sender_at, 4);
        std::memcpy(nonce.data() + 4, data + counter_at, 8);
        const nb::object parts[] = {nb::bytes(nonce.data(), nonce.size()),
                                    nb::bytes(data + header_bytes, size - header_bytes), nb::bytes(data, header_bytes)};
        PyObject* const arguments[] = {parts[0].ptr(), parts[1].ptr(), parts[2].ptr()};
        const nb::object body = nb::steal(PyObject_Vectorcall(known.decrypt.ptr(), arguments, 3, nullptr));
        if (!body.is_valid()) {
            if (!PyErr_ExceptionMatches(invalid_.ptr())) return nullptr;
            PyErr_Clear();
            Py_RETURN_FALSE;
        }
        known.accepted->accept(counter);
        PyObject* frame = type()->tp_alloc(type(), 4);
        if (frame == nullptr) return nullptr;
        PyTuple_SET_ITEM(frame, 0, PyLong_FromUnsignedLong(sender));
        PyTuple_SET_ITEM(frame, 1, PyLong_FromUnsignedLongLong(known.epoch));
        PyTuple_SET_ITEM(frame, 2, PyLong_FromUnsignedLongLong(counter));
        PyTuple_SET_ITEM(frame, 3, nb::object(body).release().ptr());
        return frame;
    }

private:
    struct Sender {
        std::uint64_t epoch;
        nb::object decrypt;
        nb::object window;
        ReplayWindow* accepted;  // in `window`
    };

    PyTypeObject* type() const { return reinterpret_cast<PyTypeObject*>(frame_.ptr()); }

    std::array<char, prefix_bytes> prefix_{};
    nb::type_object frame_;
    nb::object invalid_;
    std::unordered_map<std::uint32_t, Sender> senders_;
};

PyObject* open(PyObject* self, PyObject* data) { return nb::inst_ptr<FrameOpener>(self)->open(data); }

template <bool (*call)(ReplayWindow&, std::uint64_t)>
PyObject* of_number(PyObject* self, PyObject* number) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) return nullptr;
    return PyBool_FromLong(call(*nb::inst_ptr<ReplayWindow>(self), value));
}

bool accept(ReplayWindow& window, std::uint64_t number) { return window.accept(number); }
bool has(ReplayWindow& window, std::uint64_t number) { return window.has(number); }

}  // namespace

void bind_frames(nb::module_& module) {
    static PyMethodDef window_methods[] = {
        {"accept", of_number<accept>, METH_O, "Note a number; return whether it is new and not too old."},
        {"has", of_number<has>, METH_O, "Return whether `accept` would refuse the number."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot window_slots[] = {{Py_tp_methods, window_methods}, {0, nullptr}};
    nb::class_<ReplayWindow>(module, "ReplayWindow", nb::type_slots(window_slots), "The numbers accepted from one sender.")
        .def(
            "__init__",
            [](ReplayWindow* self, const nb::int_& floor) {
                if (floor.equal(nb::int_(-1))) {
                    new (self) ReplayWindow();
                    return;
                }
                const unsigned long long number = PyLong_AsUnsignedLongLong(floor.ptr());
                if (PyErr_Occurred() != nullptr) throw nb::python_error();
                new (self) ReplayWindow(number);
            },
            "floor"_a = -1, "Refuse all numbers up to `floor`.")
        .def_prop_ro("highest", [](const ReplayWindow& self) -> nb::int_ {
            return self.empty() ? nb::int_(-1) : nb::int_(self.highest());
        });

    static PyMethodDef opener_methods[] = {
        {"open", open, METH_O, "Return the frame in a datagram; None if unusual, False if not authentic."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot opener_slots[] = {{Py_tp_methods, opener_methods}, {0, nullptr}};
    nb::class_<FrameOpener>(module, "FrameOpener", nb::type_slots(opener_slots), "Opens frames of known senders.")
        .def(nb::init<const nb::bytes&, nb::type_object, nb::object>(), "prefix"_a, "frame"_a, "invalid"_a)
        .def("admit", &FrameOpener::admit, "sender"_a, "epoch"_a, "decrypt"_a, "window"_a,
             "Open frames of a sender in an epoch from now on.")
        .def("forget", &FrameOpener::forget, "sender"_a, "Open no more frames of a sender.");
}
