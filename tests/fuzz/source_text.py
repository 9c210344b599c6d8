"""Random actors as a program."""

from __future__ import annotations

RUNS = 8  # of each actor, with different numbers

PRELUDE = """\
#include "trace.h"
#include "flow/actorcompiler.h"

class Env {
public:
    explicit Env(std::uint64_t seed) : state_(seed) {}
    int pick(int n) {
        if (fuel_ == 0)
            return 0;
        --fuel_;
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<unsigned>(n));
    }
    Future<int> number(int id) { return start<int>(id, id); }
    Future<Void> signal(int id) { return start<Void>(id, Void()); }
    void mayThrow(int id) {
        if (pick(4) == 1) {
            say("throws %d", id);
            throw Error(10000 + id);
        }
    }

private:
    template <class T>
    static Future<T> later(int seconds, T value, Error error, [[maybe_unused]] Token token) {
        co_await delay(seconds);
        if (error.isValid())
            throw error;
        co_await coro::finish(std::move(value));
    }
    template <class T>
    Future<T> start(int id, T value) {
        int kind = pick(8);
        say("operand %d is %d", id, kind);
        if (kind < 3)
            return value;
        if (kind == 3)
            return Error(20000 + id);
        if (kind == 4)
            throw Error(30000 + id);
        return later<T>(pick(3), value, kind == 7 ? Error(40000 + id) : Error(), Token("op" + std::to_string(id)));
    }

    std::uint64_t state_;
    int fuel_ = 120;
};
"""

RUNNER = """\
template <class F>
static void run(const char* name, F* actor, std::uint64_t seed) {
    say("== %s %d", name, static_cast<int>(seed));
    SimLoop loop;
    Env env(seed);
    int cancelAt = env.pick(6) - 2;
    Future<int> f = actor(&env, Token("p"), std::vector<int>{1, 2, 3});
    Future<Void> w = watch("result", f);
    if (cancelAt >= 0) {
        loop.run(Future<Void>(delay(cancelAt + 0.5)));
        if (!f.isReady())
            say("cancel");
        f.cancel();
    }
    loop.run();
}
"""


def block_text(block: list[tuple], indent: str) -> str:
    return "".join(indent + line + "\n" for statement in block for line in text(statement))


def braces(head: str, block: list[tuple], first: str = "") -> list[str]:
    inner = block_text(block, "    ").splitlines()
    return [head + " {", *([f"    {first}"] if first else []), *inner, "}"]


def wait_text(wait: tuple) -> str:
    if wait[0] == "delay":
        return f"wait(delay({wait[1]}))"
    _, id_, result, name = wait
    if result == "none":
        return f"wait(env->signal({id_}))"
    return f"{f'state int {name}' if result == 'state' else f'int x{id_}'} = wait(env->number({id_}))"


def after_wait(wait: tuple) -> str:
    """Shows the result, while it is visible."""
    if wait[0] == "delay" or wait[2] == "none":
        return ""
    name = wait[3] if wait[2] == "state" else f"x{wait[1]}"
    return f'say("{wait[1]} gave %d", {name});'


def text(statement: tuple) -> list[str]:
    match statement:
        case ("say", id_):
            return [f'say("at {id_}");']
        case ("token", name):
            return [f'Token {name}("{name}");']
        case ("int", id_):
            return [f"int n{id_} = env->pick(100);", f'say("n{id_} is %d", n{id_});']
        case ("state", name):
            return [f'state Token {name}("{name}");']
        case ("throwing", id_):
            return [f"env->mayThrow({id_});"]
        case ("wait", *_):
            shown = after_wait(statement)
            return [wait_text(statement) + ";", *([shown] if shown else [])]
        case ("break",) | ("continue",):
            return [statement[0] + ";"]
        case ("throw", 0):
            return ["throw;"]
        case ("throw", id_):
            return [f"throw Error(50000 + {id_});"]
        case ("return", id_):
            return [f"return {id_};"]
        case ("choose", whens):
            inner = [
                line for head, body in whens for line in braces(f"when({wait_text(head)})", body, after_wait(head))
            ]
            return ["choose {", *("    " + line for line in inner), "}"]
        case _:
            return compound_text(statement)


def compound_text(statement: tuple) -> list[str]:
    match statement:
        case ("if", n, body):
            return braces(f"if (env->pick({n}) == 1)", body)
        case ("ifelse", n, then, orelse):
            return [*braces(f"if (env->pick({n}) == 1)", then), *braces("else", orelse)]
        case ("iftoken", name, then, orelse):
            return [*braces(f'if (Token {name}("{name}"); env->pick(2) == 1)', then), *braces("else", orelse)]
        case ("constexpr", value, then, orelse):
            return [*braces(f"if constexpr (sizeof(char) {'==' if value else '!='} 1)", then), *braces("else", orelse)]
        case ("block", body):
            return braces("", body)
        case ("try", id_, body, handler):
            return [
                *braces("try", body),
                *braces(f"catch (Error& e{id_})", handler, f'say("caught %d", e{id_}.code());'),
            ]
        case ("for", name, n, body):
            return braces(f"for (state int {name} = 0; {name} < {n}; {name}++)", body)
        case ("while", "", body):
            return braces("while (env->pick(3))", body)
        case ("while", name, body):
            return braces(f'while (Token {name} = env->pick(3) ? Token("{name}") : Token())', body)
        case ("loop", body):
            return braces("loop", body, "if (env->pick(3) == 0) break;")
        case ("range", id_, body):
            return braces(f"for (auto& r{id_} : items)", body, f'say("r{id_} is %d", r{id_});')
    raise AssertionError(statement)
