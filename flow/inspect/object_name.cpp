#include "flow/inspect/object_name.h"

#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace flow {
namespace {

struct Table {
    std::mutex mutex; // guards `names`
    // nondeterminism: the order does not matter, since at() takes the smallest object.
    std::unordered_set<ObjectName const*> names;
};

/// Returns the table. It is never destroyed: a static object may have a name.
Table& table() {
    static auto* made = new Table;
    return *made;
}

} // namespace

ObjectName::ObjectName(void const* object, std::size_t bytes, std::string name)
    : object_(object), bytes_(bytes), name_(std::move(name)) {
    std::lock_guard lock(table().mutex);
    table().names.insert(this);
}

ObjectName::~ObjectName() {
    std::lock_guard lock(table().mutex);
    table().names.erase(this);
}

std::string ObjectName::at(void const* address) {
    std::lock_guard lock(table().mutex);
    ObjectName const* found = nullptr;
    for (ObjectName const* each : table().names) {
        auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(each->object_);
        if (offset < each->bytes_ && (!found || each->bytes_ < found->bytes_))
            found = each;
    }
    return found ? found->name_ : std::string();
}

} // namespace flow
