#include "flow/fiber/fiber.h"

#include "flow/base/sanitizer.h"
#include "flow/base/stack.h"

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <utility>

namespace flow::fiber::detail {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

/// Of this thread; two words, as the ABI of C++ describes them.
Exceptions& exceptionsOfThread() {
    return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

// Around each switch the sanitizers are told which stack comes next.

#if FLOW_ADDRESS_SANITIZER
void beforeSwitch(void** fake, void const* stack, std::size_t bytes, void*) {
    __sanitizer_start_switch_fiber(fake, stack, bytes);
}
void afterSwitch(void* fake, void const** stack, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(fake, stack, bytes);
}
#elif FLOW_THREAD_SANITIZER
FLOW_NOT_INSTRUMENTED void beforeSwitch(void**, void const*, std::size_t, void* identity) {
    __tsan_switch_to_fiber(identity, 0);
}
FLOW_NOT_INSTRUMENTED void afterSwitch(void*, void const**, std::size_t*) {}
#else
void beforeSwitch(void**, void const*, std::size_t, void*) {}
void afterSwitch(void*, void const**, std::size_t*) {}
#endif

void* newIdentity() {
#if FLOW_THREAD_SANITIZER
    return __tsan_create_fiber(0);
#else
    return nullptr;
#endif
}
void* identityOfCaller() {
#if FLOW_THREAD_SANITIZER
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
}
void destroyIdentity([[maybe_unused]] void* identity) {
#if FLOW_THREAD_SANITIZER
    __tsan_destroy_fiber(identity);
#endif
}

} // namespace

/// The first function on each stack. It never returns.
struct Entry {
    FLOW_NOT_INSTRUMENTED static void enter(transfer_t from) noexcept {
        auto* fiber = static_cast<Fiber*>(from.data);
        afterSwitch(nullptr, &fiber->callerStack_, &fiber->callerBytes_);
        fiber->caller_ = from.fctx;
        fiber->status_ = fiber->body_(fiber, fiber->function_);
        beforeSwitch(nullptr, fiber->callerStack_, fiber->callerBytes_, fiber->callerIdentity_);
        jump_fcontext(fiber->caller_, nullptr);
        __builtin_unreachable();
    }
};

FLOW_NOT_INSTRUMENTED std::uint8_t Fiber::enter() noexcept {
    Fiber* outer = std::exchange(currentFiber, this);
    Exceptions outside = std::exchange(exceptionsOfThread(), exceptions_);
    int levels = std::exchange(flow::detail::stackLevels, stackLevels_);
    callerIdentity_ = identityOfCaller();
    void* fake = nullptr;
    beforeSwitch(&fake, stack_.begin(), stack_.bytes, identity_);
    context_ = jump_fcontext(context_, this).fctx;
    afterSwitch(fake, nullptr, nullptr);
    stackLevels_ = std::exchange(flow::detail::stackLevels, levels);
    exceptions_ = std::exchange(exceptionsOfThread(), outside);
    currentFiber = outer;
    if (status_ != Cell::kUnset) {
        destroyIdentity(identity_);
        giveBack(stack_);
    }
    return status_;
}

FLOW_NOT_INSTRUMENTED void Fiber::suspend() noexcept {
    void* fake = nullptr;
    beforeSwitch(&fake, callerStack_, callerBytes_, callerIdentity_);
    transfer_t from = jump_fcontext(caller_, nullptr);
    afterSwitch(fake, &callerStack_, &callerBytes_);
    caller_ = from.fctx;
}

void Fiber::start(Cell* cell, Body body, void* function, Options const& options, void (*resume)(Waiter*)) {
    struct Unused { // if there is no memory for the stack
        Cell* cell;
        ~Unused() {
            if (cell)
                cell->promises = 0;
        }
    } unused{cell};
    auto* fiber = ::new (cell->frame()) Fiber(options);
    unused.cell = nullptr;
    cell->flags |= Cell::kHasFrame;
    fiber->resume = resume;
    fiber->destroy = nullptr;
    fiber->link.next = nullptr;
    fiber->awaited = {};
    fiber->body_ = body;
    fiber->function_ = function;
    fiber->context_ = make_fcontext(fiber->stack_.end(), fiber->stack_.bytes, Entry::enter);
    fiber->identity_ = newIdentity();
#if FLOW_CHECKED
    void const* before = flow::detail::runningActor;
    flow::detail::noteRunning(fiber);
#endif
    std::uint8_t status = fiber->enter();
#if FLOW_CHECKED
    flow::detail::runningActor = before;
#endif
    if (status == Cell::kUnset)
        return;
    flow::detail::setEnded(cell, status); // nobody waits yet
    cell->promises = 0;
}

} // namespace flow::fiber::detail
