#pragma once
// HandlerSlot: waits for an operation in place and calls a function with its result: the callback style. Allocates
// nothing.
//
//     HandlerSlot slot;                                    // a member of whoever goes on
//     call(connection->readSome(buffer), slot, [this](Error error, std::size_t bytes) { onRead(error, bytes); });
//     slot.cancel();                                       // the handler is not called; nothing has been taken
//
// The handler is called once, in a turn of the loop and never inside call(): with an invalid Error and the result, or
// with the error and a Result(); where the result is Void with the error alone. It is trivially copyable, has at most
// 32 bytes, and must not throw. When it is called the slot is free: it may wait anew, or be destroyed. Destroying a
// slot cancels. Belongs to one thread.

#include "flow/core/in_place.h"
#include "flow/loop/loop.h"

#include <cstring>
#include <new>

namespace flow {

class HandlerSlot {
public:
    static constexpr std::size_t kHandlerBytes = 32;

    HandlerSlot() { waiter_.owner = this; }
    HandlerSlot(HandlerSlot const&) = delete;
    HandlerSlot& operator=(HandlerSlot const&) = delete;
    ~HandlerSlot() { cancel(); }

    bool isWaiting() const { return waiter_.link.isLinked(); }
    void cancel() noexcept { detail::abandon(&waiter_); }

private:
    template <InPlace Op, class Handler>
    friend void call(Op const& op, HandlerSlot& slot, Handler handler);

    template <class Op, class Handler>
    static void go(WaiterNode* waiter) {
        auto* self = static_cast<HandlerSlot*>(waiter->owner);
        auto& op = *std::launder(reinterpret_cast<Op*>(self->op_));
        Error error;
        if (detail::Cell* failed = waiter->awaited.anyCell()) {
            waiter->awaited = {};
            error = detail::takeError(failed);
        }
        using Result = typename Op::Result;
        Result result = Result();
        try {
            if (!error.isValid()) {
                if (!op.isReady()) // somebody was faster in the turn in which it was
                    return op.park(*waiter);
                result = op.take();
            }
        } catch (...) {
            error = currentError();
        }
        finish<Handler>(*self, error, std::move(result));
    }

    template <class Handler, class Result>
    static void finish(HandlerSlot& self, Error error, Result result) noexcept {
        Handler handler = *std::launder(reinterpret_cast<Handler*>(self.handler_));
        if constexpr (std::is_same_v<Result, Void>)
            handler(error);
        else
            handler(error, std::move(result));
    }

    detail::Waiter waiter_{nullptr, {nullptr}, {nullptr, nullptr}, {}};
    alignas(16) unsigned char op_[32];
    alignas(16) unsigned char handler_[kHandlerBytes];
};

/// Waits for the operation in the slot, which must be free, and calls the handler with its result.
template <InPlace Op, class Handler>
void call(Op const& op, HandlerSlot& slot, Handler handler) {
    static_assert(std::is_trivially_copyable_v<Handler> && sizeof(Handler) <= HandlerSlot::kHandlerBytes,
                  "a handler is trivially copyable and has at most 32 bytes: capture a pointer");
    FLOW_ASSERT(!slot.isWaiting(), "call() with a HandlerSlot that waits already");
    auto* own = ::new (slot.op_) Op(op);
    ::new (slot.handler_) Handler(handler);
    slot.waiter_.resume = HandlerSlot::go<Op, Handler>;
    slot.waiter_.awaited = {};
    if (own->isReady())
        loop().makeReady(&slot.waiter_, TaskPriority::ReadSocket);
    else
        own->park(slot.waiter_);
}

} // namespace flow
