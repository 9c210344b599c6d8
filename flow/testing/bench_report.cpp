#include "flow/base/format.h"
#include "flow/testing/detail/bench_runner.h"
#include "flow/trace/detail/json.h"

#include <algorithm>
#include <cmath>

namespace flow::testing {
namespace {

using Spent = BenchmarkClock::Spent;

double median(std::vector<double> values) {
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return values.size() % 2 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string number(double value) {
    if (value == std::floor(value) && value < 1e6)
        return format("%.0f", value);
    return format(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
}

/// Aligns the columns: the first one to the left, the others to the right.
std::string aligned(std::vector<std::vector<std::string>> const& lines) {
    std::string text;
    for (auto const& line : lines) {
        for (std::size_t column = 0; column < line.size(); ++column) {
            std::size_t width = 0;
            for (auto const& other : lines)
                width = std::max(width, column < other.size() ? other[column].size() : 0);
            if (line.size() == 2 && column == 1) // why a benchmark failed
                text += "  " + line[1];
            else
                text += format(column ? "  %*s" : "%-*s", static_cast<int>(width), line[column].c_str());
        }
        text += "\n";
    }
    return text;
}

class JsonObject {
public:
    explicit JsonObject(std::string& out, char const* indent) : out_(out), indent_(indent) { out_ += "{"; }
    template <class T>
    void add(std::string_view key, T const& value) {
        out_ += first_ ? "\n" : ",\n";
        first_ = false;
        out_ += indent_;
        appendJsonString(out_, key);
        out_ += ": ";
        appendJsonValue(out_, value);
    }
    void add(std::string_view key, char const* value) { add(key, std::string_view(value)); }

private:
    std::string& out_;
    char const* indent_;
    bool first_ = true;
};

void addResult(std::string& out, BenchRow const& row, std::size_t index) {
    BenchRun const& run = row.runs[index];
    JsonObject result(out, "      ");
    result.add("name", row.name);
    result.add("run_name", row.name);
    result.add("run_type", "iteration");
    result.add("repetitions", row.runs.size());
    result.add("repetition_index", index);
    result.add("threads", 1);
    result.add("intervals", run.intervals);
    if (!run.failure.empty()) {
        result.add("error_occurred", true);
        result.add("error_message", run.failure);
        return;
    }
    auto each = static_cast<double>(row.iterations);
    std::map<std::string, double> numbers{{"ns_per_item", run.spent.*timeOf(row) / run.items},
                                          {"allocs_per_item", run.spent.allocations / run.items},
                                          {"items_per_op", run.items / each}};
    if (!row.benchmark->hasOwnLoop)
        numbers["steps_per_item"] = run.spent.steps / run.items;
    for (auto const& [name, value] : run.figures)
        numbers[name] = value;
    result.add("iterations", row.iterations);
    result.add("real_time", run.spent.elapsed / each);
    result.add("cpu_time", run.spent.processor / each);
    result.add("time_unit", "ns");
    for (auto const& [name, value] : numbers)
        result.add(name, value);
    if (!run.label.empty())
        result.add("label", run.label);
    if (row.size > 0)
        result.add("size", row.size);
    if (row.benchmark->hasThreads)
        result.add("has_threads", true);
}

} // namespace

std::string BenchRow::failure() const {
    auto failed = std::ranges::find_if(runs, [](BenchRun const& run) { return !run.failure.empty(); });
    return failed == runs.end() ? "" : failed->failure;
}

double BenchmarkClock::Spent::* timeOf(BenchRow const& row) {
    return row.benchmark->hasThreads ? &Spent::elapsed : &Spent::processor;
}

std::vector<double> perItem(BenchRow const& row, double Spent::* what) {
    std::vector<double> values;
    for (BenchRun const& run : row.runs)
        values.push_back(run.spent.*what / run.items);
    return values;
}

std::string tableOf(std::vector<BenchRow> const& rows) {
    std::vector<std::vector<std::string>> lines{{"benchmark", "ns/item", "median", "elapsed", "allocs", "steps"}};
    for (BenchRow const& row : rows) {
        if (std::string failure = row.failure(); !failure.empty()) {
            lines.push_back({row.name, "FAILED: " + failure});
            continue;
        }
        std::vector<double> times = perItem(row, timeOf(row));
        lines.push_back({row.name, number(std::ranges::min(times)), number(median(times)),
                         number(median(perItem(row, &Spent::elapsed))),
                         number(median(perItem(row, &Spent::allocations))),
                         row.benchmark->hasOwnLoop ? "-" : number(median(perItem(row, &Spent::steps)))});
    }
    return aligned(lines);
}

std::string jsonOf(std::vector<BenchRow> const& rows, std::map<std::string, std::string> const& context) {
    std::string out = "{\n  \"context\": ";
    JsonObject head(out, "    ");
    for (auto const& [key, value] : context)
        head.add(key, value);
    out += "\n  },\n  \"benchmarks\": [";
    bool isFirst = true;
    for (BenchRow const& row : rows)
        for (std::size_t i = 0; i < row.runs.size(); ++i) {
            out += std::exchange(isFirst, false) ? "\n    " : ",\n    ";
            addResult(out, row, i);
            out += "\n    }";
        }
    return out + "\n  ]\n}\n";
}

} // namespace flow::testing
