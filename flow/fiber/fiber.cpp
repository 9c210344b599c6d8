#include "flow/fiber/fiber.h"

#include "flow/base/assert.h"

#include <new>
#include <utility>

namespace flow::fiber::detail {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;

namespace {

void* newIdentity() {
#if FLOW_THREAD_SANITIZER
    return __tsan_create_fiber(0);
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

void switchToNothing() {
    flow::detail::assertionFailed("context", "a fiber is resumed that runs already", __FILE__, __LINE__);
}

Exceptions& findExceptions() noexcept {
    return *(exceptionsIfKnown = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()));
}

/// enter() is the first function on each fiber's stack, and never returns.
struct Entry {
    FLOW_NOT_INSTRUMENTED static void enter(Arrival from) noexcept {
        auto* fiber = static_cast<Fiber*>(from.data);
        afterSwitch(nullptr, &fiber->callerStack_, &fiber->callerBytes_);
        fiber->caller_ = from.fctx;
        fiber->status_ = fiber->body_(fiber, fiber->function_);
        beforeSwitch(nullptr, fiber->callerStack_, fiber->callerBytes_, fiber->callerIdentity_);
        jump_fcontext(fiber->caller_, nullptr);
        __builtin_unreachable();
    }
};

Fiber::Fiber(Options const& options)
    : stack_(takeStack(options.stackBytes)), name_(options.name ? options.name : "unnamed") {
    older_ = std::exchange(newestFiber, this);
    if (older_)
        older_->newer_ = this;
}

void Fiber::end() noexcept {
    (newer_ ? newer_->older_ : newestFiber) = older_;
    if (older_)
        older_->newer_ = newer_;
    destroyIdentity(identity_);
    giveBack(stack_);
}

void Fiber::start(Cell* cell, Body body, void* function, Options const& options, void (*resume)(Waiter*)) {
    struct Unused { // for the exception if there is no memory for the stack
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
    flow::detail::setEnded(cell, status); // nothing waits for the future yet
    cell->promises = 0;
}

} // namespace flow::fiber::detail

// Reports of pending computations find these functions by name (flow/inspect/code.cpp).
extern "C" [[gnu::used]] char const* flowNameOfFiber(flow::detail::Waiter const* frame) {
    return static_cast<flow::fiber::detail::Fiber const*>(frame)->name();
}
extern "C" [[gnu::used]] std::source_location const* flowPlaceOfFiber(flow::detail::Waiter const* frame) {
    return &static_cast<flow::fiber::detail::Fiber const*>(frame)->where();
}
namespace flow::fiber::detail {
std::pair<void const*, void const*> usedStackOf(Waiter const* frame) asm("flowStackOfFiber");
[[gnu::used]] std::pair<void const*, void const*> usedStackOf(Waiter const* frame) {
    return static_cast<Fiber const*>(frame)->usedStack();
}
} // namespace flow::fiber::detail
