#include "flow/sim/linearizable.h"

#include "flow/base/format.h"
#include "flow/memory/string_ref.h"
#include "flow/sim/detail/linearization.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace flow {
namespace {

using Operation = History::Operation;
using Operations = std::vector<Operation const*>;
using Answer = Linearization::Answer;
using Outcome = LinearizabilityVerdict::Outcome;

constexpr std::size_t kRows = 24, kWriters = 4;

std::map<std::string_view, Operations> byKey(History const& history) {
    std::map<std::string_view, Operations> keys;
    for (Operation const& operation : history.operations()) {
        Operations& operations = keys[operation.key];
        if (operation.outcome != History::Outcome::failed)
            operations.push_back(&operation);
    }
    return keys;
}

/// Returns the number of events of the shortest prefix that is not linearizable. A binary search finds it, because each
/// longer prefix is not linearizable either. A prefix that the budget does not decide counts as linearizable.
std::size_t shortestEnd(Operations const& operations, std::uint64_t budget) {
    std::vector<std::size_t> ends; // only at returns: an invocation cannot make a prefix wrong
    for (Operation const* operation : operations) {
        if (operation->returned != History::kNever)
            ends.push_back(operation->returned + 1);
    }
    std::sort(ends.begin(), ends.end());
    return *std::partition_point(ends.begin(), ends.end() - 1, [&](std::size_t end) {
        return linearize(operations, end, budget).answer != Answer::none;
    });
}

/// Returns the value of the key after the operations of `order`, all of which take effect.
Optional<std::string> valueAfter(Operations const& operations, std::vector<std::size_t> const& order, std::size_t end) {
    Optional<std::string> value;
    for (std::size_t index : order) {
        Operation const& operation = *operations[index];
        bool looked = operation.kind == History::Kind::get || (operation.kind == History::Kind::compareAndSet &&
                                                               operation.returned < end && !operation.succeeded);
        if (!looked)
            value = operation.value;
    }
    return value;
}

using Row = std::array<std::string, 6>;

Row rowOf(Operation const& operation, std::size_t end, std::size_t place) {
    bool returned = operation.returned < end;
    bool pending = !returned && operation.returned != History::kNever;
    return {std::to_string(operation.client),
            operation.call(),
            pending ? "pending" : operation.result(),
            std::to_string(operation.invoked),
            returned ? std::to_string(operation.returned) : "-",
            place == 0 ? "-" : std::to_string(place)};
}

std::string tableOf(std::vector<Row> const& rows, std::size_t leftOut) {
    constexpr bool kToTheRight[] = {true, false, false, true, true, false};
    std::array<std::size_t, 6> widths{};
    for (Row const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (Row const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            std::string padding(widths[i] - row[i].size(), ' ');
            text += "  ";
            text += kToTheRight[i] ? padding + row[i] : i + 1 == row.size() ? row[i] : row[i] + padding;
        }
        text += '\n';
        if (&row == &rows.front() && leftOut > 0)
            text += format("  ... %zu earlier\n", leftOut);
    }
    return text;
}

/// Returns the last operations, and some earlier writers of the value that the last operation read or expected.
std::vector<std::size_t> shown(Operations const& operations, std::size_t end) {
    std::vector<std::size_t> begun;
    Operation const* last = nullptr;
    for (std::size_t i = 0; i < operations.size() && operations[i]->invoked < end; ++i) {
        begun.push_back(i);
        if (operations[i]->returned + 1 == end)
            last = operations[i];
    }
    Optional<std::string> const& wanted = last->kind == History::Kind::get ? last->value : last->expected;
    std::vector<std::size_t> rows; // from the last to the first
    std::size_t writers = 0;
    for (auto i = begun.rbegin(); i != begun.rend(); ++i) {
        Operation const& operation = *operations[*i];
        bool isWriter = operation.kind != History::Kind::get && operation.value == wanted;
        if (rows.size() < kRows || &operation == last || (isWriter && writers < kWriters))
            rows.push_back(*i);
        writers += isWriter;
    }
    return {rows.rbegin(), rows.rend()};
}

std::string explain(std::string_view key, Operations const& operations, std::uint64_t budget) {
    std::size_t end = shortestEnd(operations, budget);
    Linearization longest = linearize(operations, end, budget);
    std::vector<std::size_t> places(operations.size());
    for (std::size_t place = 0; place < longest.order.size(); ++place)
        places[longest.order[place]] = place + 1;
    std::vector<Row> rows = {{"client", "operation", "result", "from", "to", "place"}};
    for (std::size_t i : shown(operations, end))
        rows.push_back(rowOf(*operations[i], end, places[i]));
    auto begun = static_cast<std::size_t>(std::count_if(
        operations.begin(), operations.end(), [&](Operation const* operation) { return operation->invoked < end; }));
    return format("key \"%s\" is not linearizable: no order explains the first %zu of its %zu operations\n",
                  printable(std::string(key)).c_str(), begun, operations.size()) +
           tableOf(rows, begun + 1 - rows.size()) +
           format("the longest order has %zu operations and leaves %s\n", longest.order.size(),
                  valueToText(valueAfter(operations, longest.order, end)).c_str());
}

} // namespace

LinearizabilityVerdict checkLinearizable(History const& history, std::uint64_t budget) {
    LinearizabilityVerdict verdict{Outcome::linearizable, {}, {}, 0};
    for (auto const& [key, operations] : byKey(history)) {
        Linearization found = linearize(operations, History::kNever, budget);
        verdict.steps += found.steps;
        if (found.answer == Answer::none) {
            verdict.outcome = Outcome::notLinearizable;
            verdict.key = key;
            verdict.explanation = explain(key, operations, budget);
            return verdict;
        }
        if (found.answer == Answer::undecided && verdict.outcome == Outcome::linearizable) {
            verdict.outcome = Outcome::undecided;
            verdict.key = key;
            verdict.explanation =
                format("key \"%s\" is undecided after %llu steps of the search\n", printable(std::string(key)).c_str(),
                       static_cast<unsigned long long>(found.steps));
        }
    }
    return verdict;
}

} // namespace flow
