// The world's records as NumPy columns. Records have the indices of nodes, columns their numbers.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "world/frame.h"
#include "world/mobility.h"

namespace roamcast {

namespace nb = nanobind;

// One row for each message that a router dropped.
struct RouterDrop {
    Time time;
    std::int64_t about;
    NodeId node;
    std::int32_t peer;
    std::uint16_t kind;
    std::uint8_t category;
    std::uint8_t reason;
};

// One row for each event that reached an application.
struct Delivery {
    Time time;
    std::int64_t publication;
    NodeId node;
};

// One row for each state that a router or the world reports of a node.
struct StateRow {
    Time time;
    double value;
    NodeId node;
    std::uint16_t name;
};

template <typename T>
nb::object column(std::vector<T> values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <typename T, typename Row, typename Get>
nb::object column_of(const std::vector<Row>& rows, Get get) {
    std::vector<T> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(static_cast<T>(get(row)));
    return column(std::move(values));
}

// The number of a node; -1 for everyone.
inline std::int32_t number_or_none(const Mobility& nodes, NodeId index) {
    return index == everyone ? -1 : static_cast<std::int32_t>(nodes.number(index));
}

// The columns that every kind of row about a message has.
template <typename Row>
nb::dict message_columns(const std::vector<Row>& rows, const Mobility& nodes) {
    nb::dict out;
    out["time"] = column_of<double>(rows, [](const Row& r) { return to_seconds(r.time); });
    out["node"] = column_of<std::int32_t>(rows, [&](const Row& r) { return nodes.number(r.node); });
    out["category"] = column_of<std::int16_t>(rows, [](const Row& r) { return r.category; });
    out["kind"] = column_of<std::int16_t>(rows, [](const Row& r) { return r.kind; });
    out["publication"] = column_of<std::int64_t>(rows, [](const Row& r) { return r.about; });
    return out;
}

inline nb::dict delivery_columns(const std::vector<Delivery>& rows, const Mobility& nodes) {
    nb::dict out;
    out["publication"] = column_of<std::int64_t>(rows, [](const Delivery& r) { return r.publication; });
    out["node"] = column_of<std::int32_t>(rows, [&](const Delivery& r) { return nodes.number(r.node); });
    out["time"] = column_of<double>(rows, [](const Delivery& r) { return to_seconds(r.time); });
    return out;
}

inline nb::dict transmission_columns(const std::vector<Transmission>& rows, const Mobility& nodes) {
    nb::dict out = message_columns(rows, nodes);
    out["to"] = column_of<std::int32_t>(rows, [&](const Transmission& r) { return number_or_none(nodes, r.to); });
    out["size"] = column_of<std::int32_t>(rows, [](const Transmission& r) { return r.size; });
    out["attempts"] = column_of<std::int16_t>(rows, [](const Transmission& r) { return r.attempts; });
    out["failed"] = column_of<std::uint8_t>(rows, [](const Transmission& r) { return r.failed; });
    out["airtime"] = column_of<double>(rows, [](const Transmission& r) { return to_seconds(r.airtime); });
    return out;
}

// Name is a number in the list of names.
inline nb::dict state_columns(const std::vector<StateRow>& rows, const Mobility& nodes) {
    nb::dict out;
    out["time"] = column_of<double>(rows, [](const StateRow& r) { return to_seconds(r.time); });
    out["node"] = column_of<std::int32_t>(rows, [&](const StateRow& r) { return nodes.number(r.node); });
    out["name"] = column_of<std::int16_t>(rows, [](const StateRow& r) { return r.name; });
    out["value"] = column_of<double>(rows, [](const StateRow& r) { return r.value; });
    return out;
}

// Cause is a ReceptionOutcome, or 16 + a Loss.
inline nb::dict lost_columns(const std::vector<LostFrame>& rows, const Mobility& nodes) {
    nb::dict out = message_columns(rows, nodes);
    out["peer"] = column_of<std::int32_t>(rows, [&](const LostFrame& r) { return number_or_none(nodes, r.from); });
    out["cause"] = column_of<std::int16_t>(rows, [](const LostFrame& r) { return r.cause; });
    return out;
}

// Cause is a Drop.
inline nb::dict drop_columns(const std::vector<RouterDrop>& rows, const Mobility& nodes) {
    nb::dict out = message_columns(rows, nodes);
    out["peer"] = column_of<std::int32_t>(rows, [](const RouterDrop& r) { return r.peer; });
    out["cause"] = column_of<std::int16_t>(rows, [](const RouterDrop& r) { return r.reason; });
    return out;
}

}  // namespace roamcast
