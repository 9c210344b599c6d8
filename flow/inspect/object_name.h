#pragma once
// ObjectName: the name of a lock, a channel or another object for which computations wait, and of a loop. Reports about
// pending computations show it.
//
//     struct Bank {
//         Mutex accounts;
//         ObjectName accountsName{accounts, "accounts"};       // behind the object: it must end first
//     };
//
//     actor transfer at bank.actor.cpp:19 waits for a Mutex "accounts", held by actor transfer at bank.actor.cpp:28
//
// An object may be of any class that has its waiters inside of itself: Mutex, Semaphore, SharedMutex, Channel,
// Broadcast, Event, Trigger, Ticks, RateLimit, or a class of yours with such members. If several named objects contain
// the waiters, the report shows the name of the smallest one. The pool of connections has a name by PoolOptions
// (net/pool.h). The name of a loop stands in reports of all loops.
//
// Objects without a name cost nothing, and an object does not grow by its name: the process has one table of names. Any
// thread may make or end an ObjectName. This takes a lock and an allocation, so name only long-lived objects.

#include <cstddef>
#include <string>
#include <utility>

namespace flow {

class ObjectName {
public:
    /// Throws std::bad_alloc.
    template <class T>
    ObjectName(T const& object, std::string name) : ObjectName(&object, sizeof object, std::move(name)) {}
    template <class T>
    ObjectName(T const&& object, std::string name) = delete; // a temporary object
    ObjectName(ObjectName const&) = delete;
    ObjectName& operator=(ObjectName const&) = delete;
    ~ObjectName();

    /// Returns the name of the smallest object that has a name and contains the address; empty if there is none.
    static std::string at(void const* address);

private:
    ObjectName(void const* object, std::size_t bytes, std::string name);

    void const* object_;
    std::size_t bytes_;
    std::string name_;
};

} // namespace flow
