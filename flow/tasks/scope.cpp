#include "flow/tasks/scope.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/source.h"

// A future in a scope is a hook with a Waiter. A task or a fork is a node in its own frame. Both are in the list of the
// scope's node, so cancelling and joining treat both alike.

namespace flow {
namespace tasks {

struct HeldFuture : HookNode {
    HeldFuture(std::pmr::memory_resource& m, std::uint32_t f) : HookNode(m, sizeof(HeldFuture)) {
        flags |= kIsFuture | f;
        onCancel = [](HookNode* self) { static_cast<HeldFuture*>(self)->cancel(); };
    }
    ScopeNode* scope() const { return static_cast<ScopeNode*>(parent); }

    /// Does not free the node: the caller frees it, with the last unpin() or with end().
    void cancel() noexcept {
        flags |= kEnding;
        --scope()->futures;
        detail::abandon(&waiter);
    }
    WaiterNode* ended() {
        Cell* cell = waiter.awaited.cell();
        ScopeNode* to = scope();
        --to->futures;
        sibling.unlink();
        if (memory == &fastMemory())
            flow::memory::release(this, flow::memory::sizeClassOf(sizeof *this));
        else
            memory->deallocate(this, sizeof *this, alignof(HeldFuture));
        Error error;
        if (cell->isError()) {
            error = detail::readError(cell);
            keepExceptionOf(cell, to);
        }
        ++to->pins; // the destructor of the value may destroy the Scope
        detail::releaseFuture(cell);
        --to->pins;
        return to->onEnd(to, error);
    }

    static void resume(Waiter* waiter) {
        if (Waiter* next = static_cast<HeldFuture*>(waiter->owner)->ended())
            FLOW_HAND_OVER(next);
    }

    Waiter waiter{resume, {.owner = this}, {nullptr, nullptr}, {}};
};
static_assert(alignof(HeldFuture) == alignof(HookNode));

void hold(ScopeNode* scope, Cell* future, std::uint32_t flags) {
    if (scope->has(Node::kCancelled) && flags == 0)
        return;
    if (future->isReady()) {
        if (future->isError()) {
            keepExceptionOf(future, scope);
            if (Waiter* next = scope->onEnd(scope, detail::readError(future)))
                detail::run(next);
        }
        return;
    }
    std::pmr::memory_resource& resource = *scope->memory; // avoiding virtual calls saves a fifth of the instructions
    void* block = &resource == &fastMemory() ? memory::allocate(sizeof(HeldFuture))
                                             : resource.allocate(sizeof(HeldFuture), alignof(HeldFuture));
    auto* held = ::new (block) HeldFuture(resource, flags);
    detail::addFuture(future);
    detail::park(&held->waiter, future);
    held->parent = scope;
    Link& children = scope->children; // a cancel begins at the front, with the oldest; cancelled children are last
    bool hasCancelled = !children.isEmpty() && Node::of(children.prev)->has(Node::kCancelled);
    if (flags == 0 && (hasCancelled || scope->has(Node::kCancelsChildren)))
        pushFront(children, held->sibling);
    else
        pushBack(children, held->sibling);
    ++scope->futures;
}

} // namespace tasks

Scope::Scope(OnError onError) : Scope(Environment(), onError) {}

Scope::Scope(Context parent, OnError onError)
    : errors_(parent.allocator()), node_(tasks::makeHook<Node>(parent.memory(), parent.parent())) {
    node_->onEnd = ended;
    node_->onError = onError;
    node_->scope = this;
}

Scope::~Scope() {
    node_->scope = nullptr;
    node_->failure = broken_promise(); // for a joiner that resumes in this destructor
    if (detail::machineStops)
        tasks::destroyTree(node_); // runs only destructors of the children
    else
        tasks::cancelTree(node_);
    if (!node_->joiner.isEmpty())
        detail::failWaiter(detail::takeFirst(node_->joiner), broken_promise());
    tasks::endHook(node_);
}

void Scope::cancel() {
    holdJoiner(node_);
    tasks::cancelChildren(node_);
}

void Scope::close() noexcept {
    holdJoiner(node_);
    tasks::cancelTree(node_);
}

namespace {
/// Keeps the joiner of a scope waiting.
struct Pin {
    explicit Pin(tasks::Node* n) : node(n) { ++node->pins; }
    ~Pin() {
        if (detail::machineStops)
            node->flags &= ~tasks::Node::kJoining; // the joiner's code must not run
        tasks::unpin(node);
    }
    tasks::Node* node;
};

Future<Void> untilNextTurn(tasks::Node* node, Propagate = {}) {
    Pin pin(node);
    co_await delay(0);
}
} // namespace

/// Called before the children are cancelled. One of them may be running, and a joiner may destroy objects that this
/// child still uses. So the joiner resumes in a later turn of the loop. Does nothing if memory is short.
void Scope::holdJoiner(Node* node) noexcept {
    if (!node->scope || !node->hasForks() || !hasLoop())
        return;
    Future<Void>& turn = node->scope->turn_;
    if (turn.isValid() && !turn.isReady())
        return;
    try {
        turn = untilNextTurn(node);
    } catch (std::bad_alloc const&) {
    }
}

void tasks::keepExceptionOf(Cell const* failed, ScopeNode* node) noexcept {
    Scope* scope = node->onEnd == Scope::ended ? static_cast<Scope::Node*>(node)->scope : nullptr;
    if (scope && !node->failure.isValid()) // join() throws the first error
        scope->exception_ = detail::keptException(failed);
}

void tasks::throwFailure(ScopeNode* node) {
    Scope* scope = node->onEnd == Scope::ended ? static_cast<Scope::Node*>(node)->scope : nullptr;
    if (scope && scope->exception_ && detail::mayHaveException(node->failure))
        detail::rethrow(scope->exception_, node->failure);
    throw Error(node->failure);
}

WaiterNode* Scope::ended(tasks::ScopeNode* scope, Error error) {
    ++scope->pins;
    if (error.isValid())
        noteError(static_cast<Node*>(scope), error);
    --scope->pins;
    return scope->has(tasks::Node::kWatches) ? tasks::settle(scope) : nullptr;
}

void Scope::noteError(Node* node, Error error) noexcept {
    if (error == actor_cancelled())
        return;
    bool isKept = node->scope && node->onError != OnError::Report;
    try {
        if (isKept)
            node->scope->errors_.push_back(error);
    } catch (std::bad_alloc const&) {
        isKept = false;
    }
    if (!isKept)
        reportDroppedBy("a Scope", error);
    if (node->onError != OnError::CancelRest || node->failure.isValid())
        return;
    node->failure = error;
    holdJoiner(node);
    tasks::cancelTree(node);
}

Future<bool> Scope::drain(Node* node, double seconds, std::source_location caller, Propagate) {
    Future<Void> ended = keep(tasks::Join{node, caller});
    auto first = co_await race(ended, delay(seconds));
    if (first.index() == 0)
        co_return true;
    tasks::cancelChildren(node);
    co_await ended;
    co_return false;
}

Future<Void> Scope::closeLater(Node* node, double seconds, Propagate) {
    co_await delay(seconds);
    if (!node->failure.isValid())
        node->failure = timed_out();
    holdJoiner(node);
    tasks::cancelTree(node);
}

void Scope::holdShielded(Future<Void> child, double seconds) {
    Future<Void> bounded = timeoutError(std::move(child), seconds);
    tasks::hold(node_, bounded.cell(), tasks::Node::kCancelled);
}

} // namespace flow
