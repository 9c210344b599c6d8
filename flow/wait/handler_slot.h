#pragma once
// HandlerSlot: waits for an operation in place, and then calls a function with the result. It allocates nothing.
//
//     HandlerSlot slot;                                    // a member of the object that has the handler
//     call(connection->readSome(buffer), slot, [this](Error error, std::size_t bytes) { onRead(error, bytes); });
//     slot.cancel();                                       // the handler is not called; nothing has been taken
//
// The handler is called once, in a turn of the loop and never inside call(). If the operation is ready already, the
// call comes as after delay(0). The handler gets an invalid Error and the result (for a Void result only the Error), or
// on failure the error and a Result(). A handler is trivially copyable, has at most 32 bytes, and must not throw.
// During its call the slot may wait again, or be destroyed. The destructor cancels a wait. A slot belongs to one
// thread.

#include "flow/wait/detail/composed_operation.h"

namespace flow {

class HandlerSlot : public ComposedOperation {
public:
    static constexpr std::size_t kHandlerBytes = 32;

private:
    template <InPlace Op, class Handler>
    friend void call(Op const& op, HandlerSlot& slot, Handler handler);

    template <class Handler, class... Results>
    void finish(Error error, Results... results) {
        Handler handler = *std::launder(reinterpret_cast<Handler*>(handler_));
        handler(error, std::move(results)...);
    }

    alignas(16) unsigned char handler_[kHandlerBytes];
};

/// Waits for `op` with `slot`, which must be free, and calls `handler` with the result.
template <InPlace Op, class Handler>
void call(Op const& op, HandlerSlot& slot, Handler handler) {
    static_assert(std::is_trivially_copyable_v<Handler> && sizeof(Handler) <= HandlerSlot::kHandlerBytes,
                  "a handler is trivially copyable and has at most 32 bytes: capture a pointer");
    FLOW_ASSERT(!slot.isWaiting(), "call() with a HandlerSlot that waits already");
    ::new (slot.handler_) Handler(handler);
    using Result = typename Op::Result;
    if constexpr (std::is_same_v<Result, Void>)
        slot.waitFor<&HandlerSlot::finish<Handler>>(op);
    else
        slot.waitFor<&HandlerSlot::finish<Handler, Result>>(op);
}

} // namespace flow
