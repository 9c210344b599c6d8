#pragma once
// RequestValue and RequestContext: values that belong to a request, such as its id, its user or its trace.
//
//     inline constexpr RequestValue<User> kUser;              // a key; its address makes it different from all others
//
//     Future<Response> answer(http::Request request) {
//         RequestContext here = request.context.with(kRequestId, "a81").with(kUser, user);
//         co_return co_await page(here, 7);
//     }
//     Future<Response> page(RequestContext here, int number) { // the same for actors and fibers
//         TraceEvent("PageAsked").request(here).detail("Number", number);         // ..., "Request":"a81","Number":7}
//         User const* user = here.find(kUser);                                    // null without a value
//         ...
//     }
//     Task<Row> row(ContextWith<RequestContext>, Key key);    // a task: start(row(environment.with(here), key))
//
// A RequestContext follows a request because it is passed on as a parameter, in each style. A function without this
// parameter has no byte more in its frame, and no instruction more. "What belongs to a request" in
// net/docs/request_tracing.md compares other ways. A RequestContext is one pointer. with() makes a new context in one
// block of memory, and leaves the old one as it is: so a part of the work can have another value. A copy costs an
// addition. The values are never changed, and exist until the last context that has them is destroyed: a pointer from
// find() is valid until then. A context belongs to one thread: give copies of the values to other threads.
//
// A key with a name, such as kRequestId("Request"), is also for the log: TraceEvent::request() adds a detail of this
// name, with toText() of the value.

#include "flow/base/inline.h"
#include "flow/base/non_copyable.h"
#include "flow/base/to_text.h"
#include "flow/memory/fast_allocator.h"
#include "flow/memory/reference.h"

#include <string>
#include <type_traits>
#include <utility>

namespace flow {

/// The key of a value with the type T: a constant that exists as long as the program.
template <class T>
class RequestValue : NonCopyable {
public:
    /// The value is not in the log.
    constexpr RequestValue() = default;
    /// Events of the log have the value as a detail with this name, which is not copied: use a literal.
    explicit constexpr RequestValue(char const* nameInLog) : nameInLog_(nameInLog) {}

    constexpr char const* nameInLog() const { return nameInLog_; }

private:
    char const* nameInLog_ = nullptr;
};

/// The id by which people know a request.
inline constexpr RequestValue<std::string> kRequestId("Request");

class RequestContext {
public:
    /// Makes a context without values, which needs no memory.
    RequestContext() = default;

    bool isEmpty() const { return !newest_; }
    /// Returns a context with the values of this one and one more, which replaces the value of the same key.
    template <class T>
    [[nodiscard]] RequestContext with(RequestValue<T> const& key, std::type_identity_t<T> value) const {
        return withMade(key, [&]() -> T { return std::move(value); });
    }
    /// Like with(), with the value that make() returns, which is not moved.
    template <class T, class Make>
    [[nodiscard]] FLOW_INLINE RequestContext withMade(RequestValue<T> const& key, Make const& make) const {
        return RequestContext(Reference<Entry const>(new EntryOf<T>(newest_.getPtr(), key, make)));
    }
    template <class T>
    void with(RequestValue<T> const&& key, std::type_identity_t<T> value) const = delete; // a key is not a temporary
    /// Returns the value; null if there is none.
    template <class T>
    T const* find(RequestValue<T> const& key) const {
        Entry const* entry = entryOf(&key);
        return entry ? &static_cast<EntryOf<T> const*>(entry)->value : nullptr;
    }
    template <class T>
    T const* find(RequestValue<T> const&& key) const = delete;

    /// Calls use(name, text) for each value that is for the log, the newest first.
    template <class Use>
    void forEachInLog(Use use) const {
        for (Entry const* each = newest_.getPtr(); each; each = each->above)
            if (each->nameInLog && entryOf(each->key) == each)
                use(each->nameInLog, each->text());
    }

private:
    struct Entry {
        Entry(Entry const* a, void const* k, char const* name) : above(a), key(k), nameInLog(name) {}
        Entry(Entry const&) = delete;
        Entry& operator=(Entry const&) = delete;
        virtual void destroy() const = 0; // leaves `above` to delref()
        virtual std::string text() const = 0;

        void addref() const { ++references; }
        /// Does not recurse, however many values are above.
        void delref() const {
            for (Entry const* each = this; each && --each->references == 0;) {
                Entry const* next = each->above;
                each->destroy();
                each = next;
            }
        }

        Entry const* above; // has one reference of this entry
        void const* key;
        char const* nameInLog;
        mutable std::uint32_t references = 1;
    };
    template <class T>
    struct EntryOf final : Entry, FastAllocated<EntryOf<T>> {
        EntryOf(Entry const* above, RequestValue<T> const& key, auto const& make)
            : Entry(above, &key, key.nameInLog()), value(make()) {
            if (above)
                above->addref(); // after make(), which may throw
        }
        void destroy() const override { delete this; }
        std::string text() const override { return toText(value); }

        T const value;
    };

    explicit RequestContext(Reference<Entry const> newest) : newest_(std::move(newest)) {}
    Entry const* entryOf(void const* key) const {
        Entry const* each = newest_.getPtr();
        while (each && each->key != key)
            each = each->above;
        return each;
    }

    Reference<Entry const> newest_;
};

} // namespace flow
