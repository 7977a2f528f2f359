// Timers of Python's routers: what is to be called, and with what, until the agenda says when.
#pragma once

#include <Python.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace roamcast {

struct Timer {
    PyObject* action = nullptr;
    PyObject* args = nullptr;  // a tuple; or the only argument, as it is
    std::uint64_t order = 0;
    bool single = false;

    // The action's result, or null with a Python error set.
    PyObject* call() const {
        PyObject* given[] = {nullptr, args};
        return single ? PyObject_Vectorcall(action, given + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)
                      : PyObject_CallObject(action, args);
    }

    void clear() {
        Py_CLEAR(action);
        Py_CLEAR(args);
    }
};

class Timers {
public:
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
        return slots_[slot].order == order && slots_[slot].action != nullptr;
    }

    // The slot stays taken until its entry of the agenda comes up, so that no other timer can inherit it.
    void cancel(std::uint32_t slot, std::uint64_t order) {
        if (active(slot, order)) slots_[slot].clear();
    }

    // The timer whose entry came up, now the caller's to clear; without an action if it was cancelled.
    Timer take(std::uint32_t slot, std::uint64_t order) {
        if (slots_[slot].order != order) return {};
        free_.push_back(slot);
        return std::exchange(slots_[slot], Timer{});
    }

    void clear() {
        for (Timer& timer : slots_) timer.clear();
    }

private:
    std::vector<Timer> slots_;
    std::vector<std::uint32_t> free_;
};

}  // namespace roamcast
