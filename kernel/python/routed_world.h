// The radio world with Python's routers in it: routers above, kernel/world below.
//
// A router's message never crosses: the world carries a handle, and the message object waits here until
// no frame needs it any more. Receptions are the hot path, so they use the C API directly.
//
// Python knows nodes by number, the world by index (`Mobility`). The state of nodes here is in order of the index,
// so that the receivers of a frame are side by side.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "python/columns.h"
#include "python/message_kinds.h"
#include "python/message_references.h"
#include "python/states.h"
#include "python/timers.h"
#include "routing/seen.h"
#include "world/world.h"

namespace roamcast {

namespace nb = nanobind;

inline constexpr std::size_t reasons = 64;

class PyWorld final : public RouterHost {
public:
    PyWorld(nb::dict radio, nb::dict mac, std::uint64_t seed);
    PyWorld(const PyWorld&) = delete;
    PyWorld& operator=(const PyWorld&) = delete;
    ~PyWorld() override { close(); }

    // Nodes (nodes.cpp): arguments called `number` are as Python has them --------------------------

    NodeId add_static(double x, double y);
    NodeId add_waypoint(double x, double y, double width, double height, double min_speed, double max_speed,
                        double pause, bool stationary);
    NodeId add_ordered(double x, double y, const std::vector<double>& times, const std::vector<double>& xs,
                       const std::vector<double>& ys, const std::vector<double>& speeds);
    void start();
    void attach(NodeId number, nb::object router, bool promiscuous);
    void detach(NodeId number);  // a node without a router: nothing reaches it
    // Call a function with each event that a node's router delivers; None: no function.
    void listen(NodeId number, nb::object listener);
    void close();  // drop every reference to Python objects: routers, hosts and this world refer to each other
    void set_radio(NodeId number, bool on);
    bool radio_on(NodeId number) const { return world_.radio_on(index(number)); }
    // Have the router of a node at work until the action under way ends.
    void enter(NodeId number) { at_work_ = index(number); }
    void check(NodeId number) const {
        if (number >= world_.size()) throw nb::index_error("no such node");
    }
    NodeId index(NodeId number) const {
        check(number);
        return world_.mobility().index(number);
    }
    NodeId number(NodeId index) const { return world_.mobility().number(index); }
    nb::object python_number(NodeId index) const;  // one object for all callers

    // Movement (movement.cpp) ------------------------------------------------------------------------

    Point position(NodeId node) { return world_.mobility().position(node, world_.now()); }
    Point velocity(NodeId node);  // [m/s] on the leg under way
    nb::object positions();       // x and y of all nodes, by number [m]
    nb::dict movement(double seconds);      // legs from now on, as columns; the world itself does not move on
    nb::list receivers(NodeId number);      // of a signal sent now: (number, delay [ps], power [W])
    nb::list order() const;                 // numbers by index
    double distance(double signal) const { return world_.radio().distance(signal); }

    // Running ----------------------------------------------------------------------------------------

    void run_until(double seconds);
    double now() const { return to_seconds(world_.now()); }

    // Calls by hosts, which have the index of their node (hosting.cpp) -----------------------------------------

    void broadcast(NodeId node, nb::handle message) { post(node, message, everyone); }
    void send(NodeId node, nb::handle message, std::int64_t to);
    // Send a message that a router has made of `before`. If that is being received and only fields of fixed size
    // differ (`same_size`), the facts of the one are those of the other.
    void pass_on(NodeId node, nb::handle before, nb::handle message, std::int64_t to, bool same_size);
    nb::list withdraw(NodeId node, std::int64_t neighbour);  // messages that wait in the link for it, in order
    void deliver(NodeId node, nb::handle publication);
    void note_drop(NodeId node, nb::handle message, std::int64_t peer, long reason);
    void state(NodeId node, nb::handle name, double value) { states_.note(world_.now(), node, name, value); }
    Owning number_host(NodeId node);
    void end_host(Owning host) { timers_.cancel_all(host); }
    void suspend_host(Owning host) { timers_.hold(host); }
    void resume_host(Owning host);
    // Return whether it succeeded, with the timer's slot and order; if not, a Python error is set.
    bool set_timer(double delay, PyObject* action, PyObject* const* args, Py_ssize_t count, Owning owner, bool held,
                   std::uint32_t& slot, std::uint64_t& order);
    bool timer_active(std::uint32_t slot, std::uint64_t order) const { return timers_.active(slot, order); }
    void cancel_timer(std::uint32_t slot, std::uint64_t order) { timers_.cancel(slot, order); }

    // Refuse drops for reasons outside a mask, messages of other classes than a set has, and deliveries of
    // publications that are not noted.
    void check_routers(std::uint64_t known_reasons, nb::object messages);
    // A publisher numbers its publications of an incarnation from 1, without a gap: the last implies all.
    void note_published(std::int64_t id);

    // Records (records.cpp) ------------------------------------------------------------------------------

    nb::dict counters() const;
    nb::list drop_counts() const;
    nb::list kinds() const;
    nb::dict deliveries();
    nb::dict transmissions();
    nb::dict lost_frames();
    nb::dict router_drops();
    nb::dict states() const;
    nb::list state_names() const;
    std::size_t recorded();  // number of rows that are not yet forgotten
    void forget();           // discard the rows: a run's memory must not grow with all that happens in it
    void record_losses(bool on) { world_.record_losses(on); }
    // Which reasons of routers are recorded as rows, beyond being counted; a bit for each reason.
    void record_reasons(std::uint64_t mask) { recorded_reasons_ = mask; }

    // Calls of routers by the world (calls.cpp) -----------------------------------------------------------

    void receive(NodeId node, const Packet& packet, NodeId from, double power) override;
    void overhear(NodeId node, const Packet& packet, NodeId from, double power) override;
    void link_failed(NodeId node, const Packet& packet) override;
    void timer(std::uint32_t slot, std::uint64_t order) override;
    bool misses(NodeId node, const Packet& packet) override { return !has_handled(node, packet); }
    void release(Handle message) override { kept_.release(message); }
    bool interrupted() override;

private:
    // Whether the router on a node shares which messages it has handled, and this is one of them. Inline, because
    // every reception asks.
    bool has_handled(NodeId node, const Packet& packet) {
        const MessageReference& kept = kept_[packet.message];
        if (kept.key == nullptr) return false;
        if (readers_[node] != SeenIndex::nobody) return kept.page->has(readers_[node]);
        if (handled_[node] == nullptr) return false;
        const int found = PyDict_Contains(handled_[node], kept.key);
        if (found < 0) fail();
        return found == 1;
    }
    void call_receive(NodeId node, const Packet& packet, NodeId from, double power);
    NodeId receiver_of(std::int64_t number) const;  // its index; an error if there is none
    void post(NodeId node, nb::handle message, NodeId to);
    void fail();
    void finish(PyObject* result);
    void count_drop(NodeId node, std::uint16_t kind, std::uint8_t category, std::int64_t about, std::int32_t peer,
                    long reason);
    void require_own(NodeId node);  // a router may use the host of its own node alone
    void require_published(NodeId node, std::int64_t id) const;

    World world_;
    // By index of the node:
    std::vector<PyObject*> ids_;  // its number
    std::vector<PyObject*> receive_;
    std::vector<PyObject*> shortcuts_;  // functions that receive messages of a class instead, by class; or null
    std::vector<PyObject*> handled_;  // where a router keeps the ids of messages that it has handled: a Seen or a dict
    std::vector<SeenIndex::Reader> readers_;  // of the Seen, where it is one
    std::vector<PyObject*> overhear_;  // of promiscuous routers
    std::vector<PyObject*> routers_;
    std::vector<PyObject*> listeners_;  // functions called with each delivery, or null
    MessageReferences kept_;
    Timers timers_;
    MessageKinds kinds_;
    std::array<std::uint64_t, reasons> drop_counts_{};
    std::vector<RouterDrop> drops_;
    std::vector<Delivery> deliveries_;
    States states_;
    std::vector<NodeId> host_nodes_{everyone};  // by Owning; the world's own timers are no node's
    const Packet* received_ = nullptr;          // what a router is receiving
    NodeId at_work_ = everyone;                 // whose router is being called; everyone: none, or any
    std::unordered_map<std::int64_t, std::int64_t> published_;  // by publisher and incarnation, the last number
    std::uint64_t known_reasons_ = ~0ULL;
    bool checks_deliveries_ = false;
    std::uint64_t recorded_reasons_ = ~0ULL;
    PyObject* size_name_ = PyUnicode_InternFromString("size");
    PyObject* link_failed_name_ = PyUnicode_InternFromString("link_failed");
    PyObject* id_name_ = PyUnicode_InternFromString("id");
    bool failed_ = false;
};

// A timer that Python may cancel; without a slot if nothing is to happen. Null, with a Python error set, if that cannot be.
PyObject* new_timer(nb::handle world, double delay, PyObject* const* action, Py_ssize_t count, Owning owner, bool held);

}  // namespace roamcast
