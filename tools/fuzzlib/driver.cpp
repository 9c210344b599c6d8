// Runs generated programs and prints what they do.
//
//     driver RUNS [PROGRAM SEED]      all programs, each with seeds 1 to RUNS; or one
//
// For each run a line `# PROGRAM SEED FORM` and its trace; for a form of the program with the same trace as the one
// before, a line `# PROGRAM SEED FORM same`.

#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "prelude.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

std::string trace;
int tokens = 0;

void say(std::string const& text) {
    trace += text;
    trace += '\n';
}
void say(std::string const& what, int number) {
    say(what + ' ' + std::to_string(number));
}

class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : state_(seed) {}
    int below(int n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<unsigned>(n));
    }

private:
    std::uint64_t state_;
};

/// An input that is not ready yet. Only the promise that its kind names is of use.
struct Source {
    enum class Kind { Number, Signal, Token, Pair, Stream };

    Kind kind;
    int id;
    int sent = 0;
    Promise<int> number = {};
    Promise<Void> signal = {};
    Promise<Token> token = {};
    Promise<Pair> pair = {};
    PromiseStream<int> stream = {};
};

constexpr int kSlots = 3;

struct World {
    explicit World(std::uint64_t seed) : numbers(seed) {}

    Numbers numbers;
    int fuel = 150;
    std::vector<Source> sources;
    Future<int> lastNumber;
    Promise<int> slots[kSlots];
    Future<int> kept[kSlots];
};

World* world = nullptr;

template <class T>
Future<T> later(Future<T> input, [[maybe_unused]] Token token, ExplicitVoid = {}) {
    T value = co_await input;
    co_return value;
}

/// What an input of each type gives.
template <class T>
T made(int id);
template <>
int made<int>(int id) {
    return id;
}
template <>
Void made<Void>(int) {
    return Void();
}
template <>
Token made<Token>(int id) {
    return Token("value" + std::to_string(id));
}
template <>
Pair made<Pair>(int id) {
    return {id, 2 * id};
}

template <class T>
Future<T> input(int id, Source::Kind kind, Promise<T> Source::* promise, Future<T> const& last = {}) {
    int how = pick(8);
    say("input " + std::to_string(id) + " is", how);
    switch (how) {
    case 2:
        return Error(20000 + id);
    case 3:
        throw Error(30000 + id);
    case 4:
    case 5: {
        world->sources.push_back({kind, id});
        Future<T> future = (world->sources.back().*promise).getFuture();
        return how == 4 ? future : later<T>(std::move(future), Token("input" + std::to_string(id)));
    }
    case 6:
        return Never();
    case 7:
        return last.isValid() ? last : made<T>(id);
    default:
        return made<T>(id);
    }
}

template <class T>
void settle(Promise<T> const& promise, int id, int how) {
    if (how < 5)
        promise.send(made<T>(id));
    else if (how < 7)
        promise.sendError(Error(40000 + id));
}

/// What an input does when the driver turns to it. It may make new sources.
void settle(std::size_t place, int how) {
    Source source = std::move(world->sources[place]);
    world->sources.erase(world->sources.begin() + static_cast<std::ptrdiff_t>(place));
    say("settle " + std::to_string(source.id) + " by " + std::to_string(how));
    switch (source.kind) {
    case Source::Kind::Number:
        return settle(source.number, source.id, how);
    case Source::Kind::Signal:
        return settle(source.signal, source.id, how);
    case Source::Kind::Token:
        return settle(source.token, source.id, how);
    case Source::Kind::Pair:
        return settle(source.pair, source.id, how);
    case Source::Kind::Stream:
        if (how < 5) {
            PromiseStream<int> stream = source.stream;
            int element = ++source.sent;
            world->sources.push_back(std::move(source));
            stream.send(element);
        } else if (how < 7) {
            source.stream.sendError(how == 5 ? end_of_stream() : Error(40000 + source.id));
        }
        break;
    }
}

Future<Void> watch(int id, Future<int> future) {
    ErrorOr<int> result = co_await tryGet(std::move(future));
    if (result.isError())
        say("watcher " + std::to_string(id) + " sees error", result.getError().code());
    else
        say("watcher " + std::to_string(id) + " sees", result.get());
}

struct Program {
    int index;
    int start;
    const char* form;
    Future<int> (*root)(Token const&, int);
};

std::vector<Program>& programs() {
    static std::vector<Program> all;
    return all;
}

/// Whether an actor may wait for something that the driver can end.
bool isGoingOn() {
    auto hasFutures = [](Promise<int> const& slot) { return slot.getFutureReferenceCount() > 0; };
    auto isKept = [](Future<int> const& future) { return future.isValid(); };
    return !world->sources.empty() || std::any_of(world->slots, world->slots + kSlots, hasFutures) ||
           std::any_of(world->kept, world->kept + kSlots, isKept);
}

/// What the driver holds of one run.
struct Run {
    Numbers numbers;
    Future<int> root;
    std::vector<Future<Void>> watchers;

    void drop() {
        while (!watchers.empty())
            watchers.pop_back();
        root = Future<int>();
    }

    void start(Program const& program) {
        int mode = numbers.below(4);
        root = program.root(Token("root"), numbers.below(4));
        say(root.isReady() ? "started and ended" : "started");
        for (int id = 0; id < mode && mode < 3; ++id)
            watchers.push_back(watch(id, root));
        if (mode == 3) {
            keep(0, root);
            root = Future<int>();
        }
    }

    void step(Loop& loop) {
        int action = numbers.below(10);
        if (action < 6 && !world->sources.empty()) {
            std::size_t place = static_cast<std::size_t>(numbers.below(static_cast<int>(world->sources.size())));
            settle(place, numbers.below(8));
        } else if (action == 6 && root.isValid()) {
            say("cancel");
            root.cancel();
        } else if (action == 7) {
            say("drop");
            drop();
        } else {
            say("time passes");
            loop.run(Future<Void>(delay(1)));
        }
    }

    /// Ends all that is still going on. Uncancellable actors may begin something new in the meantime.
    void end(Loop& loop) {
        say("end");
        drop();
        world->lastNumber = Future<int>();
        do {
            loop.run();
            while (!world->sources.empty())
                settle(world->sources.size() - 1, 7);
            for (int k = 0; k < kSlots; ++k)
                fuzz::breakSlot(k);
            for (int k = 0; k < kSlots; ++k)
                fuzz::drop(k);
            world->lastNumber = Future<int>();
        } while (isGoingOn());
        loop.run();
        say("tokens left:", tokens);
    }
};

std::string run(Program const& program, int seed) {
    trace.clear();
    tokens = 0;
    auto start = static_cast<std::uint64_t>(program.start + seed);
    SimLoop loop;
    World current(start);
    world = &current;
    Run one{.numbers = Numbers(~start), .root = {}, .watchers = {}};
    one.start(program);
    for (int step = 0; step < 25 && !(world->sources.empty() && one.root.isValid() && one.root.isReady()); ++step)
        one.step(loop);
    one.end(loop);
    return trace;
}

/// Runs a program in each form.
void report(std::vector<Program>::const_iterator first, std::vector<Program>::const_iterator last, int seed) {
    std::string before;
    for (auto each = first; each != last; ++each) {
        std::printf("# %d %d %s", each->index, seed, each->form);
        std::fflush(stdout); // so that a crash shows where
        std::string text = run(*each, seed);
        bool same = each != first && text == before;
        std::printf("%s\n%s", same ? " same" : "", same ? "" : text.c_str());
        before = std::move(text);
    }
}

} // namespace

Token::Token() = default;
Token::Token(std::string name)
    : name_(new std::string(std::move(name)), [](std::string* last) {
          say("~" + *last);
          --tokens;
          delete last;
      }) {
    ++tokens;
}
Token::Token(Token const& other) = default;
Token::Token(Token&& other) noexcept = default;
Token& Token::operator=(Token const& other) = default;
Token& Token::operator=(Token&& other) noexcept = default;
Token::~Token() = default;

int pick(int n) {
    if (world->fuel == 0)
        return 0;
    --world->fuel;
    return world->numbers.below(n);
}

void at(int id) {
    say("at", id);
}
void see(int id, int value) {
    say("see " + std::to_string(id) + ":", value);
}
void caught(int id, Error const& error) {
    say("caught at " + std::to_string(id) + ":", error.code());
}
void mayThrow(int id) {
    int how = pick(6);
    if (how == 1) {
        say("throws", id);
        throw Error(10000 + id);
    }
    if (how == 2) {
        say("throws another type", id);
        throw id;
    }
}

Future<int> number(int id) {
    Future<int> future = input<int>(id, Source::Kind::Number, &Source::number, world->lastNumber);
    world->lastNumber = future;
    return future;
}
Future<Void> signal(int id) {
    return input<Void>(id, Source::Kind::Signal, &Source::signal);
}
Future<Token> newToken(int id) {
    return input<Token>(id, Source::Kind::Token, &Source::token);
}
Future<Pair> pair(int id) {
    return input<Pair>(id, Source::Kind::Pair, &Source::pair);
}
std::vector<int> items(int id) {
    int count = pick(4);
    say("items " + std::to_string(id) + " are", count);
    std::vector<int> result;
    for (int item = 1; item <= count; ++item)
        result.push_back(item);
    return result;
}
FutureStream<int> stream(int id) {
    int queued = pick(4);
    say("stream " + std::to_string(id) + " has", queued);
    Source source{Source::Kind::Stream, id, queued};
    FutureStream<int> result = source.stream.getFuture();
    for (int element = 1; element <= queued; ++element)
        source.stream.send(element);
    if (queued == 3)
        source.stream.sendError(end_of_stream());
    else
        world->sources.push_back(std::move(source));
    return result;
}

Future<int> slot(int k) {
    return world->slots[k].getFuture();
}
void fill(int k, int value) {
    Promise<int> promise = std::exchange(world->slots[k], Promise<int>());
    promise.send(value);
}
void failSlot(int k) {
    Promise<int> promise = std::exchange(world->slots[k], Promise<int>());
    promise.sendError(Error(50000 + k));
}
void breakSlot(int k) {
    Promise<int> promise = std::exchange(world->slots[k], Promise<int>());
}

void keep(int k, Future<int> const& future) {
    world->kept[k] = future;
}
Future<int> kept(int k) {
    return world->kept[k].isValid() ? world->kept[k] : Future<int>(Never());
}
void drop(int k) {
    world->kept[k] = Future<int>();
}

Registration::Registration(int program, int start, const char* form, Future<int> (*root)(Token const&, int)) {
    programs().push_back({program, start, form, root});
}

} // namespace fuzz

int main(int count, char** arguments) {
    using namespace fuzz;
    auto argument = [&](int place, int otherwise) { return count > place ? std::atoi(arguments[place]) : otherwise; };
    int runs = argument(1, 1), only = argument(2, -1), seed = argument(3, -1);
    setUnreadErrorReports(false); // the model has no such reports
    setDroppedErrorHandler([](const char*, Error error) { say("dropped error", error.code()); });
    std::sort(programs().begin(), programs().end(), [](Program const& a, Program const& b) {
        return a.index != b.index ? a.index < b.index : std::string_view(a.form) > b.form;
    });
    for (auto first = programs().begin(); first != programs().end();) {
        auto last =
            std::find_if(first, programs().end(), [&](Program const& each) { return each.index != first->index; });
        for (int each = 1; each <= runs; ++each)
            if (only < 0 || (first->index == only && (seed < 0 || each == seed)))
                report(first, last, each);
        first = last;
    }
}
