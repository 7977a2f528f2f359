// Datagrams that wait at a UDP socket, all in one system call: the receiving side of live nodes.
#include <arpa/inet.h>
#include <nanobind/nanobind.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

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

}  // namespace

void bind_datagrams(nb::module_& module) {
    nb::class_<DatagramReader>(module, "DatagramReader", "Reads the datagrams that wait at an IP socket.")
        .def(nb::init<int>(), "descriptor"_a)
        .def("read", &DatagramReader::read, "Return up to 64 datagrams, each with its source.");
}
