// Messages of Python's routers that the world has in its care, by handle, until no frame needs them any more.
#pragma once

#include <Python.h>

#include <utility>
#include <vector>

#include "routing/seen.h"
#include "world/frame.h"

namespace roamcast {

struct MessageReference {
    PyObject* message = nullptr;
    PyObject* key = nullptr;       // its id, where it has one
    SeenIndex::SeenPage* page = nullptr;  // of that id: whose `Seen` has it

    void forget() {
        if (page != nullptr) SeenIndex::of_process().close(*std::exchange(page, nullptr));
        Py_CLEAR(message);
        Py_CLEAR(key);
    }
};

class MessageReferences {
public:
    Handle keep(const MessageReference& kept) {
        if (free_.empty()) {
            kept_.push_back(kept);
            return static_cast<Handle>(kept_.size() - 1);
        }
        const Handle handle = free_.back();
        free_.pop_back();
        kept_[handle] = kept;
        return handle;
    }

    const MessageReference& operator[](Handle handle) const { return kept_[handle]; }

    void release(Handle handle) {
        kept_[handle].forget();
        free_.push_back(handle);
    }

    void clear() {
        for (MessageReference& kept : kept_) kept.forget();
    }

private:
    std::vector<MessageReference> kept_;
    std::vector<Handle> free_;
};

}  // namespace roamcast
