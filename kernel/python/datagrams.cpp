// Datagrams of live nodes: those that wait at a UDP socket, and those sent while it is read, in one system call each.
#include <arpa/inet.h>
#include <nanobind/nanobind.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr std::size_t most_datagrams = 64;
constexpr std::size_t longest = 2048;  // of a longer datagram the first bytes are read
constexpr std::size_t most_sources = 8;

class DatagramReader {
public:
    explicit DatagramReader(int descriptor) : descriptor_(descriptor), bytes_(new char[most_datagrams * longest]) {
        for (std::size_t at = 0; at < most_datagrams; ++at) {
            parts_[at] = {bytes_.get() + at * longest, longest};
            messages_[at].msg_hdr.msg_iov = &parts_[at];
            messages_[at].msg_hdr.msg_iovlen = 1;
            messages_[at].msg_hdr.msg_name = &senders_[at];
        }
    }

    // Returns the datagrams with their sources; none if none waits.
    nb::list read() {
        nb::list found;
        const int count = receive();
        for (int at = 0; at < count; ++at) {
            const auto& message = messages_[static_cast<std::size_t>(at)];
            const char* data = static_cast<char*>(message.msg_hdr.msg_iov->iov_base);
            found.append(nb::make_tuple(nb::bytes(data, message.msg_len),
                                        source(senders_[static_cast<std::size_t>(at)], message.msg_hdr.msg_namelen)));
        }
        return found;
    }

private:
    struct Source {
        sockaddr_storage raw;
        socklen_t size = 0;
        nb::object address;
    };

    int receive() {
        for (std::size_t failures = 0; failures < most_datagrams; ++failures) {
            for (auto& message : messages_) message.msg_hdr.msg_namelen = sizeof(sockaddr_storage);
            const int count = recvmmsg(descriptor_, messages_.data(), most_datagrams, MSG_DONTWAIT, nullptr);
            if (count >= 0) return count;
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EBADF) return 0;
            // Else an earlier datagram of ours was refused by its receiver.
        }
        return 0;
    }

    // Nodes hear few neighbours, so their addresses are kept.
    nb::object source(const sockaddr_storage& raw, socklen_t size) {
        for (const Source& each : sources_) {
            if (each.size == size && std::memcmp(&each.raw, &raw, size) == 0) return each.address;
        }
        Source& oldest = sources_[next_++ % most_sources];
        oldest = {raw, size, address(raw)};
        return oldest.address;
    }

    static nb::object address(const sockaddr_storage& raw) {
        char text[INET6_ADDRSTRLEN] = "";
        if (raw.ss_family == AF_INET) {
            const auto& ip = reinterpret_cast<const sockaddr_in&>(raw);
            inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
            return nb::make_tuple(nb::str(text), ntohs(ip.sin_port));
        }
        const auto& ip = reinterpret_cast<const sockaddr_in6&>(raw);
        inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
        return nb::make_tuple(nb::str(text), ntohs(ip.sin6_port), ntohl(ip.sin6_flowinfo), ip.sin6_scope_id);
    }

    int descriptor_;
    std::unique_ptr<char[]> bytes_;
    std::array<mmsghdr, most_datagrams> messages_{};
    std::array<iovec, most_datagrams> parts_{};
    std::array<sockaddr_storage, most_datagrams> senders_{};
    std::array<Source, most_sources> sources_{};
    std::size_t next_ = 0;
};

class DatagramWriter {
public:
    explicit DatagramWriter(int descriptor) : descriptor_(descriptor) {}

    // Sends a datagram, or keeps it until `release`. False if the address is none of numbers, then nothing is sent.
    bool send(nb::bytes data, const nb::tuple& address) {
        const Target* target = find(address);
        if (target == nullptr) return false;
        if (!held_) {
            const ssize_t sent = sendto(descriptor_, data.c_str(), data.size(), MSG_DONTWAIT,
                                        reinterpret_cast<const sockaddr*>(&target->raw), target->size);
            if (sent < 0) ++unsent_;
            return true;
        }
        if (waiting_.size() == most_datagrams) flush();
        waiting_.emplace_back(std::move(data), *target);
        return true;
    }

    void hold() { held_ = true; }

    void release() {
        held_ = false;
        flush();
    }

    std::size_t unsent() const { return unsent_; }

private:
    struct Target {
        sockaddr_storage raw{};
        socklen_t size = 0;
    };
    struct Known {
        nb::object address;
        Target target;
    };

    void flush() {
        std::array<mmsghdr, most_datagrams> messages{};
        std::array<iovec, most_datagrams> parts;
        for (std::size_t at = 0; at < waiting_.size(); ++at) {
            auto& [data, target] = waiting_[at];
            parts[at] = {const_cast<char*>(data.c_str()), data.size()};
            messages[at].msg_hdr.msg_iov = &parts[at];
            messages[at].msg_hdr.msg_iovlen = 1;
            messages[at].msg_hdr.msg_name = &target.raw;
            messages[at].msg_hdr.msg_namelen = target.size;
        }
        for (std::size_t done = 0; done < waiting_.size();) {
            const auto left = static_cast<unsigned>(waiting_.size() - done);
            const int count = sendmmsg(descriptor_, messages.data() + done, left, MSG_DONTWAIT);
            if (count > 0) {
                done += static_cast<std::size_t>(count);
            } else {  // the first of them is refused
                ++unsent_;
                ++done;
            }
        }
        waiting_.clear();
    }

    // Nodes have few neighbours, so their addresses are kept; null if an address is none of numbers.
    const Target* find(const nb::tuple& address) {
        for (const Known& each : known_) {
            if (each.address.is(address)) return &each.target;
        }
        Target target;
        if (!read(address, target)) return nullptr;
        Known& oldest = known_[next_++ % most_sources];
        oldest = {address, target};
        return &oldest.target;
    }

    static bool read(const nb::tuple& address, Target& target) {
        if (address.size() < 2 || !nb::isinstance<nb::str>(address[0])) return false;
        const auto host = nb::cast<const char*>(address[0]);
        const auto port = htons(nb::cast<std::uint16_t>(address[1]));
        auto& ip4 = reinterpret_cast<sockaddr_in&>(target.raw);
        if (address.size() == 2 && inet_pton(AF_INET, host, &ip4.sin_addr) == 1) {
            ip4.sin_family = AF_INET;
            ip4.sin_port = port;
            target.size = sizeof ip4;
            return true;
        }
        auto& ip6 = reinterpret_cast<sockaddr_in6&>(target.raw);
        if (inet_pton(AF_INET6, host, &ip6.sin6_addr) != 1) return false;
        ip6.sin6_family = AF_INET6;
        ip6.sin6_port = port;
        ip6.sin6_flowinfo = address.size() > 2 ? htonl(nb::cast<std::uint32_t>(address[2])) : 0;
        ip6.sin6_scope_id = address.size() > 3 ? nb::cast<std::uint32_t>(address[3]) : 0;
        target.size = sizeof ip6;
        return true;
    }

    int descriptor_;
    bool held_ = false;
    std::size_t unsent_ = 0;
    std::vector<std::pair<nb::bytes, Target>> waiting_;
    std::array<Known, most_sources> known_{};
    std::size_t next_ = 0;
};

PyObject* send_one(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyBytes_Check(arguments[0]) || !PyTuple_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "send takes bytes and an address");
        return nullptr;
    }
    try {
        const bool sent = nb::inst_ptr<DatagramWriter>(self)->send(nb::borrow<nb::bytes>(arguments[0]),
                                                                  nb::borrow<nb::tuple>(arguments[1]));
        return PyBool_FromLong(sent);
    } catch (const nb::cast_error&) {
        PyErr_SetString(PyExc_TypeError, "an address is a text and numbers");
        return nullptr;
    } catch (nb::python_error& error) {
        error.restore();
        return nullptr;
    }
}

}  // namespace

void bind_datagrams(nb::module_& module) {
    nb::class_<DatagramReader>(module, "DatagramReader", "Reads the datagrams that wait at an IP socket.")
        .def(nb::init<int>(), "descriptor"_a)
        .def("read", &DatagramReader::read, "Return up to 64 datagrams, each with its source.");

    static PyMethodDef methods[] = {
        {"send", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(send_one)), METH_FASTCALL,
         "Send a datagram to an address; return False, and send nothing, if the address is none of numbers."},
        {nullptr, nullptr, 0, nullptr},
    };
    static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
    nb::class_<DatagramWriter>(module, "DatagramWriter", nb::type_slots(slots), "Sends datagrams from an IP socket.")
        .def(nb::init<int>(), "descriptor"_a)
        .def("hold", &DatagramWriter::hold, "Keep datagrams until `release`, or until 64 wait.")
        .def("release", &DatagramWriter::release, "Send what was kept, and keep no more.")
        .def_prop_ro("unsent", &DatagramWriter::unsent, "Datagrams that the system refused.");
}
