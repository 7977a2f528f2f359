// Timers of Python's routers: the function to call and its arguments, until the event is due.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace roamcast {

// The owner of a timer: a host's number, or the world.
using Owning = std::uint32_t;
inline constexpr Owning of_the_world = 0;

struct Timer {
    PyObject* action = nullptr;
    PyObject* args = nullptr;  // a tuple; or the only argument, as it is
    std::uint64_t order = 0;
    Owning owner = of_the_world;
    bool single = false;
    bool held = false;  // its owner sleeps: when it is due, it waits for the waking

    // The action's result, or null with a Python error set.
    PyObject* call() const {
        PyObject* given[] = {nullptr, args};
        return single ? PyObject_Vectorcall(action, given + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)
                      : PyObject_CallObject(action, args);
    }

    // The last reference to a router may be here, and its end may set or cancel timers: this one is empty by then.
    void clear() {
        PyObject* const called = std::exchange(action, nullptr);
        PyObject* const given = std::exchange(args, nullptr);
        Py_XDECREF(called);
        Py_XDECREF(given);
    }
};

class Timers {
public:
    struct DueTimer {
        std::uint32_t slot;
        std::uint64_t order;
    };

    // A slot for a timer that is yet to be filled.
    std::uint32_t take_slot() {
        if (free_.empty()) {
            slots_.emplace_back();
            return static_cast<std::uint32_t>(slots_.size() - 1);
        }
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        return slot;
    }

    void fill(std::uint32_t slot, Timer timer) { slots_[slot] = timer; }

    bool active(std::uint32_t slot, std::uint64_t order) const {
        return order != 0 && slots_[slot].order == order && slots_[slot].action != nullptr;
    }

    // The slot stays taken until its queued event comes up, so that no other timer can inherit it.
    void cancel(std::uint32_t slot, std::uint64_t order) {
        if (active(slot, order)) slots_[slot].clear();
    }

    // The timer whose entry came up, now the caller's to clear; without an action if it was cancelled or is held.
    Timer take(std::uint32_t slot, std::uint64_t order) {
        if (slots_[slot].order != order) return {};
        if (slots_[slot].held) {
            overdue_.push_back({slot, order});
            return {};
        }
        free_.push_back(slot);
        return std::exchange(slots_[slot], Timer{});
    }

    // The owner is gone: nothing of its own will happen.
    void cancel_all(Owning owner) {
        for (const DueTimer& due : release(owner)) {
            slots_[due.slot].clear();
            take(due.slot, due.order);  // its entry has come up already
        }
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
            if (slots_[slot].owner == owner) slots_[slot].clear();
        }
    }

    // The owner sleeps: what comes due has to wait.
    void hold(Owning owner) {
        for (Timer& timer : slots_) timer.held = timer.held || timer.owner == owner;
    }

    // It is awake: what came due meanwhile, in order.
    std::vector<DueTimer> release(Owning owner) {
        for (Timer& timer : slots_) {
            if (timer.owner == owner) timer.held = false;
        }
        const auto waiting = std::stable_partition(overdue_.begin(), overdue_.end(), [this, owner](const DueTimer& due) {
            return slots_[due.slot].owner != owner;
        });
        std::vector<DueTimer> due(waiting, overdue_.end());
        overdue_.erase(waiting, overdue_.end());
        return due;
    }

    void clear() {
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) slots_[slot].clear();
    }

private:
    std::vector<Timer> slots_;
    std::vector<std::uint32_t> free_;
    std::vector<DueTimer> overdue_;  // of sleeping owners, in order of time
};

}  // namespace roamcast
