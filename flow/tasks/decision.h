#pragma once
// Decision: decides the result of several children, which may be before all of them have ended. whenAll, whenAny, when,
// race and withTimeout use it.
//
// Each operand runs in a fork that reports its end. The end that decides cancels the other operands; the task that
// asked goes on when all have ended.

#include "flow/tasks/task.h"

#include <optional>
#include <vector>

namespace flow::tasks {

/// The value type of an operand: a Task, a Fork, or a Future.
template <class Operand>
using ResultOfOperand = typename std::remove_cvref_t<Operand>::Element;

class Decision {
public:
    /// Decided by the `values`-th value, or by error number `failures` + 1, whichever comes first.
    Decision(Context here, std::size_t values, std::size_t failures)
        : parent_(here.parent()), values_(values), failures_(failures), isMade_(values == 0) {}

    bool isMade() const { return isMade_; }
    /// The index of the child that made the decision by its end.
    std::size_t winner() const { return winner_; }
    void throwIfFailed() const {
        if (error_.isValid())
            throw error_;
    }

    /// succeeded() and failed() report the end of child `index`. succeeded() returns true if its value still counts.
    bool succeeded(std::size_t index) noexcept {
        if (isMade_)
            return false;
        if (--values_ == 0)
            make(index);
        return true;
    }
    void failed(std::size_t index, Error error) noexcept {
        if (isMade_)
            return;
        if (failures_-- == 0) {
            error_ = error;
            make(index);
        }
    }

private:
    void make(std::size_t index) noexcept {
        isMade_ = true;
        winner_ = index;
        cancelChildren(parent_);
    }

    Node* parent_;
    std::size_t values_;
    std::size_t failures_;
    bool isMade_;
    std::size_t winner_ = 0;
    Error error_;
};

/// Runs one operand. The task that made this fork waits for it, so the references stay valid.
template <class Operand, class T = ResultOfOperand<Operand>>
Fork<> runOperand(Context, Operand operand, std::optional<T>* result, Decision* decision, std::size_t index) {
    Error error;
    try {
        // Two statements, since gcc 12 would begin the construction before it waits.
        T value = co_await std::move(operand);
        result->emplace(std::move(value));
    } catch (...) {
        error = currentError();
    }
    if (error.isValid())
        decision->failed(index, error);
    else if (!decision->succeeded(index))
        result->reset(); // the decision was made before
}

/// Runs a range of operands.
template <class Operand>
class Operands {
public:
    using T = ResultOfOperand<Operand>;

    Operands(Context here, std::size_t count, std::size_t values, std::size_t failures)
        : here_(here), results_(count, here.allocator()), decision_(here, values, failures) {}

    /// Returns the error of a start. The caller throws it only after it has awaited destroyForks().
    Error start(std::vector<Operand>& operands) noexcept {
        try {
            for (std::size_t i = 0; i < operands.size() && !decision_.isMade(); ++i)
                (void)runOperand<Operand>(here_, std::move(operands[i]), &results_[i], &decision_, i);
        } catch (...) {
            cancelChildren(here_.parent());
            return currentError();
        }
        return Error();
    }

    Decision const& decision() const { return decision_; }
    std::pmr::vector<std::optional<T>>& results() { return results_; }

private:
    Context here_;
    std::pmr::vector<std::optional<T>> results_;
    Decision decision_;
};

inline void throwIfValid(Error error) {
    if (error.isValid())
        throw error;
}

} // namespace flow::tasks
