// The radio world with Python's routers in it: routers above, kernel/world below.
//
// A router's message never crosses: the world carries a handle, and the message object waits here until
// no frame needs it any more. Receptions are the hot path, so they use the C API directly.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/columns.h"
#include "python/message_references.h"
#include "python/message_kinds.h"
#include "python/parameters.h"
#include "python/states.h"
#include "python/timers.h"
#include "routing/seen.h"
#include "world/world.h"

namespace roamcast {

namespace nb = nanobind;

inline constexpr std::size_t reasons = 64;
inline constexpr long duplicate = 1;  // Drop.DUPLICATE
inline constexpr int count_bits = 24;  // of a publication's id; above them are incarnation and publisher
inline constexpr std::int64_t count_mask = (1 << count_bits) - 1;

class PyWorld final : public RouterHost {
public:
    PyWorld(nb::dict radio, nb::dict mac, std::uint64_t seed)
        : world_(radio_parameters(radio), channel_parameters(radio), mac_parameters(mac), seed, *this) {}

    PyWorld(const PyWorld&) = delete;
    PyWorld& operator=(const PyWorld&) = delete;
    ~PyWorld() override { close(); }

    // Building ------------------------------------------------------------------------------------

    NodeId add_static(double x, double y) { return world_.mobility().add_static({x, y}); }

    NodeId add_waypoint(double x, double y, double width, double height, double min_speed, double max_speed,
                        double pause, bool stationary) {
        return world_.mobility().add_waypoint({{x, y, width, height}, min_speed, max_speed, pause, stationary});
    }

    NodeId add_ordered(double x, double y, const std::vector<double>& times, const std::vector<double>& xs,
                       const std::vector<double>& ys, const std::vector<double>& speeds) {
        std::vector<MovementCommand> orders;
        for (std::size_t i = 0; i < times.size(); ++i) {
            orders.push_back({from_seconds(times[i]), {xs.at(i), ys.at(i)}, speeds.at(i)});
        }
        return world_.mobility().add_ordered({x, y}, std::move(orders));
    }

    void start() {
        world_.start();
        ids_.resize(world_.size());
        receive_.resize(world_.size(), nullptr);
        readers_.resize(world_.size(), SeenIndex::nobody);
        handled_.resize(world_.size(), nullptr);
        overhear_.resize(world_.size(), nullptr);
        routers_.resize(world_.size(), nullptr);
        listeners_.resize(world_.size(), nullptr);
        for (std::size_t node = 0; node < world_.size(); ++node) {
            ids_[node] = PyLong_FromSize_t(node);
        }
    }

    void attach(NodeId node, nb::object router, bool promiscuous) {
        check(node);
        set(receive_[node], router.attr("receive"));
        const nb::object handled = nb::getattr(router, "handled", nb::none());
        const bool seen = nb::isinstance<Seen>(handled);
        readers_[node] = seen ? nb::inst_ptr<Seen>(handled)->reader() : SeenIndex::nobody;
        if (seen || PyDict_CheckExact(handled.ptr())) set(handled_[node], handled);
        if (promiscuous) {
            set(overhear_[node], router.attr("overhear"));
            world_.set_promiscuous(node);
        }
        set(routers_[node], router);
    }

    // A node without a router: nothing reaches it.
    void detach(NodeId node) {
        check(node);
        readers_[node] = SeenIndex::nobody;
        for (auto* table : {&receive_, &handled_, &overhear_, &routers_}) Py_CLEAR((*table)[node]);
    }

    // Tell an application of each event that its node's router delivers; None: nobody listens.
    void listen(NodeId node, nb::object listener) {
        check(node);
        Py_CLEAR(listeners_[node]);
        if (!listener.is_none()) set(listeners_[node], listener);
    }

    // Drop every reference to Python objects: routers, hosts and this world refer to each other.
    void close() {
        world_.stop();
        readers_.assign(readers_.size(), SeenIndex::nobody);
        for (auto* table : {&receive_, &handled_, &overhear_, &routers_, &listeners_, &ids_}) {
            for (PyObject*& object : *table) Py_CLEAR(object);
        }
        kept_.clear();
        timers_.clear();
        kinds_.clear();
        states_.clear();
    }

    // Running -------------------------------------------------------------------------------------

    void run_until(double seconds) {
        world_.run_until(from_seconds(seconds));
        if (PyErr_Occurred()) throw nb::python_error();
    }

    double now() const { return to_seconds(world_.now()); }

    void post(NodeId node, nb::handle message, NodeId to) {
        require_own(node);
        const MessageInfo meaning = kinds_.of(message, node);
        Packet parcel;
        parcel.to = to;
        parcel.size = static_cast<std::uint32_t>(whole(message.ptr(), size_name_));
        parcel.kind = meaning.kind;
        parcel.category = meaning.category;
        parcel.about = meaning.about;
        MessageReference kept;
        if (meaning.key != nullptr) {
            kept.key = meaning.key_is_about ? PyLong_FromLongLong(meaning.about)
                                            : PyObject_GetAttr(message.ptr(), meaning.key);
            if (kept.key == nullptr) throw nb::python_error();
            kept.page = &SeenIndex::of_process().open(PyLong_AsUnsignedLongLongMask(kept.key));
        }
        kept.message = message.inc_ref().ptr();
        parcel.message = kept_.keep(kept);
        world_.post(node, parcel);
    }

    void broadcast(NodeId node, nb::handle message) { post(node, message, everyone); }

    void send(NodeId node, nb::handle message, std::int64_t to) {
        if (to < 0 || to >= static_cast<std::int64_t>(world_.size())) {
            PyErr_Format(PyExc_ValueError, "there is no node %lld to send to", static_cast<long long>(to));
            throw nb::python_error();
        }
        post(node, message, static_cast<NodeId>(to));
    }

    // Hand back what waits in a node's link for a neighbour, in order.
    nb::list withdraw(NodeId node, std::int64_t neighbour) {
        nb::list out;
        if (neighbour < 0 || neighbour >= static_cast<std::int64_t>(world_.size())) return out;
        world_.withdraw(node, static_cast<NodeId>(neighbour),
                        [&](Handle handle) { out.append(nb::borrow(kept_[handle].message)); });
        return out;
    }

    void set_radio(NodeId node, bool on) {
        check(node);
        world_.set_radio(node, on);
        if (PyErr_Occurred()) throw nb::python_error();
    }

    bool radio_on(NodeId node) const {
        check(node);
        return world_.radio_on(node);
    }

    double distance(double signal) const { return world_.radio().distance(signal); }

    // Refuse drops for reasons outside a mask, messages of other classes than a set has, and deliveries of
    // publications that are not noted.
    void check_routers(std::uint64_t known_reasons, nb::object messages) {
        known_reasons_ = known_reasons;
        kinds_.declare(std::move(messages));
        checks_deliveries_ = true;
    }

    // A publisher numbers its publications of an incarnation from 1, without a gap: the last tells of all.
    void note_published(std::int64_t id) { published_[id >> count_bits] = id & count_mask; }

    // The number of a node as Python has it; one object for all who ask.
    nb::object number(NodeId node) const {
        return node < ids_.size() && ids_[node] != nullptr ? nb::borrow(ids_[node]) : nb::object(nb::int_(node));
    }

    // Have the router of a node at work until the action under way ends.
    void enter(NodeId node) {
        check(node);
        at_work_ = node;
    }

    Owning number_host(NodeId node) {
        host_nodes_.push_back(node);
        return static_cast<Owning>(host_nodes_.size() - 1);
    }
    void end_host(Owning host) { timers_.cancel_all(host); }
    void suspend_host(Owning host) { timers_.hold(host); }

    void resume_host(Owning host) {
        for (const Timers::DueTimer& due : timers_.release(host)) timer(due.slot, due.order);
        if (PyErr_Occurred()) throw nb::python_error();
    }

    // Says where the timer is and which it is; or false, with a Python error set.
    bool set_timer(double delay, PyObject* action, PyObject* const* args, Py_ssize_t count, Owning owner, bool held,
                   std::uint32_t& slot, std::uint64_t& order) {
        if (!(delay >= 0) || delay > 1e9) {
            PyErr_SetString(PyExc_ValueError, "a delay must be finite and not negative");
            return false;
        }
        const bool single = count == 1;
        PyObject* const given = single ? Py_NewRef(args[0]) : PyTuple_New(count);
        if (given == nullptr) return false;
        for (Py_ssize_t i = 0; i < count && !single; ++i) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
        slot = timers_.take_slot();
        order = world_.set_timer(at_least_seconds(delay), slot);
        timers_.fill(slot, {Py_NewRef(action), given, order, owner, single, held});
        return true;
    }

    bool timer_active(std::uint32_t slot, std::uint64_t order) const { return timers_.active(slot, order); }

    void cancel_timer(std::uint32_t slot, std::uint64_t order) { timers_.cancel(slot, order); }

    void note_drop(NodeId node, nb::handle message, std::int64_t peer, long reason) {
        const MessageInfo meaning = kinds_.of(message, node);
        count_drop(node, meaning.kind, meaning.category, meaning.about, static_cast<std::int32_t>(peer), reason);
        if (failed_) throw nb::python_error();
    }

    void deliver(NodeId node, nb::handle publication) {
        require_own(node);
        const std::int64_t id = whole(publication.ptr(), id_name_);
        if (checks_deliveries_) require_published(node, id);
        deliveries_.push_back({world_.now(), id, node});
        if (listeners_[node] == nullptr) return;
        PyObject* const told = PyObject_CallOneArg(listeners_[node], publication.ptr());
        if (told == nullptr) throw nb::python_error();
        Py_DECREF(told);
    }

    void state(NodeId node, nb::handle name, double value) { states_.note(world_.now(), node, name, value); }

    Point position(NodeId node) {
        check(node);
        return world_.mobility().position(node, world_.now());
    }

    // Metres per second, on the leg under way.
    Point velocity(NodeId node) {
        check(node);
        world_.mobility().position(node, world_.now());
        const Leg& leg = world_.mobility().leg(node);
        return {leg.vx * ticks_per_second, leg.vy * ticks_per_second};
    }

    nb::object positions() {
        std::vector<double> places;
        places.reserve(2 * world_.size());
        for (NodeId node = 0; node < world_.size(); ++node) {
            const Point point = world_.mobility().position(node, world_.now());
            places.push_back(point.x);
            places.push_back(point.y);
        }
        return column(std::move(places));
    }

    // The legs of all nodes from now until `seconds`, as columns; the world itself does not move on.
    nb::dict movement(double seconds) {
        std::vector<std::int32_t> nodes;
        std::array<std::vector<double>, 6> columns;
        const Time until = from_seconds(seconds);
        Mobility mobility = world_.mobility();
        for (NodeId node = 0; node < mobility.size(); ++node) {
            for (;;) {
                const Leg leg = mobility.leg(node);
                const Time end = std::min(leg.end, until);
                const Point target = leg.at(end);
                nodes.push_back(static_cast<std::int32_t>(node));
                const double speed = std::sqrt(leg.vx * leg.vx + leg.vy * leg.vy) * ticks_per_second;
                const double values[] = {to_seconds(leg.start), leg.x, leg.y, target.x, target.y, speed};
                for (std::size_t i = 0; i < 6; ++i) columns[i].push_back(values[i]);
                if (leg.end >= until) break;
                mobility.advance(node);
            }
        }
        nb::dict out;
        out["node"] = column(std::move(nodes));
        const char* names[] = {"time", "x0", "y0", "x1", "y1", "speed"};
        for (std::size_t i = 0; i < 6; ++i) out[names[i]] = column(std::move(columns[i]));
        return out;
    }

    // Who senses a signal of `source` now: (node, delay in ns, watts; negative where it cannot be decoded).
    nb::list receivers(NodeId source) {
        check(source);
        std::vector<Reception> found;
        world_.surroundings().receivers(source, world_.now(), found);
        nb::list out;
        for (const Reception& r : found) out.append(nb::make_tuple(r.node, r.delay, r.power));
        return out;
    }

    // What happened ---------------------------------------------------------------------------------

    nb::dict counters() const {
        const Counters& c = world_.counters();
        nb::dict out;
        const char* types[] = {"data", "rts", "cts", "ack"};
        for (std::size_t i = 0; i < 4; ++i) out[types[i]] = c.frames[i];
        const char* names[] = {"received", "collided", "captured", "weak", "deaf"};
        for (std::size_t i = 0; i < 5; ++i) out[names[i]] = c.fate[i];
        out["sensed"] = c.sensed;
        out["repeated"] = c.repeated;
        out["queue_full"] = c.queue_full;
        out["retry_limit"] = c.retry_limit;
        out["events_processed"] = c.events_processed;
        if (c.switches > 0) {  // told only of worlds where radios are switched
            out["radio_off"] = c.fate[static_cast<std::size_t>(ReceptionOutcome::Off)];
            out["unsent"] = c.unsent;
        }
        if (c.arp_queries > 0) {  // and where addresses are asked for
            out["arp_queries"] = c.arp_queries;
            out["arp_replies"] = c.arp_replies;
            out["unresolved"] = c.unresolved;
        }
        if (world_.by_sinr()) out["bit_errors"] = c.fate[static_cast<std::size_t>(ReceptionOutcome::BitErrors)];
        if (world_.is_lora()) out["duty_cycle"] = c.duty_cycle;
        if (c.too_large > 0) out["too_large"] = c.too_large;
        return out;
    }

    nb::list drop_counts() const {
        nb::list out;
        for (const std::uint64_t count : drop_counts_) out.append(count);
        return out;
    }

    nb::list kinds() const {
        nb::list out;
        for (const std::string& name : kinds_.names()) out.append(name);
        return out;
    }

    nb::dict deliveries() { return delivery_columns(deliveries_); }
    nb::dict transmissions() { return transmission_columns(world_.records().transmissions); }
    nb::dict lost_frames() { return lost_columns(world_.records().lost); }
    nb::dict router_drops() { return drop_columns(drops_); }
    nb::dict states() const { return states_.columns(); }

    // Rows taken down and not yet forgotten.
    std::size_t recorded() {
        const Records& records = world_.records();
        return records.transmissions.size() + records.lost.size() + drops_.size() + deliveries_.size() + states_.size();
    }

    // Whoever asked for the rows keeps them: a run's memory is then not that of all that happens in it.
    void forget() {
        world_.records().transmissions.clear();
        world_.records().lost.clear();
        drops_.clear();
        deliveries_.clear();
        states_.forget();
    }

    nb::list state_names() const {
        nb::list out;
        for (const std::string& name : states_.names()) out.append(name);
        return out;
    }

    void record_losses(bool on) { world_.record_losses(on); }

    // Which reasons of routers are recorded one by one, beyond being counted; a bit a reason.
    void record_reasons(std::uint64_t mask) { recorded_reasons_ = mask; }

    // The owner's side ------------------------------------------------------------------------------

    void receive(NodeId node, const Packet& parcel, NodeId from, double power) override {
        if (failed_) return;
        // Most of what is heard are copies: where the router tells which messages it has handled, they need no call.
        if (has_handled(node, parcel)) {
            return count_drop(node, parcel.kind, parcel.category, parcel.about, address(from), duplicate);
        }
        PyObject* const callee = receive_[node];
        if (failed_ || callee == nullptr) return;
        PyObject* const watts = PyFloat_FromDouble(power);
        PyObject* args[] = {nullptr, kept_[parcel.message].message, ids_[from], watts};
        at_work_ = node;
        PyObject* const result = PyObject_Vectorcall(callee, args + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
        at_work_ = everyone;
        Py_DECREF(watts);
        if (result == nullptr) {
            fail();
            return;
        }
        if (result != Py_None) {
            const long reason = PyLong_Check(result) && !PyBool_Check(result) ? PyLong_AsLong(result) : -1;
            if (reason == -1) {
                PyErr_Clear();
                accuse(node, "receive returned %R; expected None or a Drop", result);
                fail();
            } else {
                count_drop(node, parcel.kind, parcel.category, parcel.about, address(from), reason);
            }
        }
        Py_DECREF(result);
    }

    void overhear(NodeId node, const Packet& parcel, NodeId from, double power) override {
        if (failed_ || overhear_[node] == nullptr) return;
        PyObject* const watts = PyFloat_FromDouble(power);
        PyObject* args[] = {nullptr, kept_[parcel.message].message, ids_[from], ids_[parcel.to], watts};
        at_work_ = node;
        finish(PyObject_Vectorcall(overhear_[node], args + 1, 4 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
        Py_DECREF(watts);
    }

    void link_failed(NodeId node, const Packet& parcel) override {
        if (failed_ || routers_[node] == nullptr) return;
        PyObject* args[] = {routers_[node], kept_[parcel.message].message, ids_[parcel.to]};
        at_work_ = node;
        finish(PyObject_VectorcallMethod(link_failed_name_, args, 3, nullptr));
    }

    void timer(std::uint32_t slot, std::uint64_t order) override {
        Timer due = timers_.take(slot, order);
        if (due.action == nullptr) return;  // cancelled
        at_work_ = host_nodes_[due.owner];
        if (!failed_) finish(due.call());
        due.clear();
    }

    bool misses(NodeId node, const Packet& parcel) override { return !has_handled(node, parcel); }

    void release(Handle message) override { kept_.release(message); }

    bool interrupted() override {
        if (!failed_ && PyErr_CheckSignals() != 0) fail();
        return failed_;
    }

    void check(NodeId node) const {
        if (node >= world_.size()) throw nb::index_error("no such node");
    }

private:
    // Whether the router on a node, if it tells, has handled this very message.
    bool has_handled(NodeId node, const Packet& parcel) {
        const MessageReference& kept = kept_[parcel.message];
        if (kept.key == nullptr) return false;
        if (readers_[node] != SeenIndex::nobody) return kept.page->has(readers_[node]);
        if (handled_[node] == nullptr) return false;
        const int found = PyDict_Contains(handled_[node], kept.key);
        if (found < 0) fail();
        return found == 1;
    }

    static void set(PyObject*& place, nb::object value) {
        Py_XDECREF(place);
        place = value.release().ptr();
    }

    void fail() {
        failed_ = true;
        world_.stop();
    }

    // A router may use the host of its own node alone.
    void require_own(NodeId node) {
        if (at_work_ == node || at_work_ == everyone) return;
        accuse(at_work_, "it used the host of node %u", node);
        throw nb::python_error();
    }

    void require_published(NodeId node, std::int64_t id) const {
        const auto found = published_.find(id >> count_bits);
        const std::int64_t count = id & count_mask;
        if (found != published_.end() && count > 0 && count <= found->second) return;
        accuse(node, "it delivered publication %lld of node %lld, which nobody has published", static_cast<long long>(id),
               static_cast<long long>(id >> 32));
        throw nb::python_error();
    }

    void finish(PyObject* result) {
        at_work_ = everyone;
        if (result == nullptr) {
            fail();
        } else {
            Py_DECREF(result);
        }
    }

    void count_drop(NodeId node, std::uint16_t kind, std::uint8_t category, std::int64_t about, std::int32_t peer,
                    long reason) {
        if (reason < 0 || static_cast<std::size_t>(reason) >= reasons || (known_reasons_ >> reason & 1) == 0) {
            accuse(node, "it gave %ld as its reason to drop a message; expected a Drop", reason);
            fail();
            return;
        }
        ++drop_counts_[static_cast<std::size_t>(reason)];
        if ((recorded_reasons_ >> reason & 1) != 0) {
            drops_.push_back({world_.now(), about, node, peer, kind, category, static_cast<std::uint8_t>(reason)});
        }
    }

    World world_;
    std::vector<PyObject*> ids_;
    std::vector<PyObject*> receive_;
    std::vector<PyObject*> handled_;  // where a router keeps the ids of messages that it has handled: a Seen or a dict
    std::vector<SeenIndex::Reader> readers_;  // of the Seen, where it is one
    std::vector<PyObject*> overhear_;  // of promiscuous routers
    std::vector<PyObject*> routers_;
    std::vector<PyObject*> listeners_;  // applications that hear of each delivery, or null
    MessageReferences kept_;
    Timers timers_;
    MessageKinds kinds_;
    std::array<std::uint64_t, reasons> drop_counts_{};
    std::vector<RouterDrop> drops_;
    std::vector<Delivery> deliveries_;
    States states_;
    std::vector<NodeId> host_nodes_{everyone};  // by Owning; the world's own timers are no node's
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
