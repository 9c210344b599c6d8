"""Generates actor files of any length from a seed, with the statistics of a large program.

Each 1,000 lines hold about 10 actors with 30 waits (among them those of one choose), 28 state variables and 5 tries;
nearly half of the actors are members of classes; the rest is plain C++ and comments, 39 bytes a line. actorc makes
valid C++ of them, so that the compilation of its output can be timed.
"""

from __future__ import annotations

import random

_PRELUDE = """\
// Made by tools/bench compiler: {lines} lines, seed {seed}.
#include "flow/flow.h"
#include <map>
#include <string>
#include <vector>
using namespace flow;

struct Event {{
    explicit Event(const char* name);
    Event& detail(const char* key, long value);
}};
struct Store {{
    Future<int> read(int key);
    Future<Void> write(int key, int value);
    Future<Void> onError(Error const& error);
    FutureStream<int> changes() const;
    int size() const;
    std::map<int, std::string> names;
}};
int compute(int left, int right);
Error timed_out_error();

#include "flow/actorcompiler.h" // must be the last include

"""

_WORDS = (
    "the", "a", "storage", "server", "keeps", "version", "until", "all", "replicas", "have", "answered", "which",
    "request", "is", "retried", "if", "its", "owner", "changes", "and", "then", "log", "range", "cannot", "be",
    "moved", "before", "every", "reader", "has", "seen", "this",
)  # fmt: skip
_LONGEST_COMMENT = 14
_DEEPEST = 3


def actor_file(lines: int, seed: int) -> str:
    """A file of at least `lines` lines; at most one actor or class longer."""
    return _File(lines, random.Random(seed)).text(seed)


class _File:
    def __init__(self, lines: int, chance: random.Random) -> None:
        self._wanted = lines
        self._chance = chance
        self._lines: list[str] = []
        self._number = 0

    def text(self, seed: int) -> str:
        self._lines = _PRELUDE.format(lines=self._wanted, seed=seed).splitlines()
        while len(self._lines) < self._wanted:
            self._definition()
        return "\n".join(self._lines) + "\n"

    def _definition(self) -> None:
        match self._chance.choices(("actor", "class", "function", "namespace", "conditional"), (20, 7, 50, 4, 6))[0]:
            case "actor":
                self._actor(0, is_member=False)
            case "class":
                self._class()
            case "function":
                self._function(0)
            case "namespace":
                self._put(0, f"namespace part{self._next()} {{")
                for _ in range(self._chance.randrange(1, 5)):
                    self._function(0)
                self._put(0, "} // namespace")
            case _:
                self._put(0, "#if FLOW_CHECKED")
                self._function(0)
                self._put(0, "#endif")
        self._put(0, "")

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _put(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text if text else "")

    def _comment(self, indent: int) -> None:
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            words = self._chance.choices(_WORDS, k=self._chance.randrange(4, _LONGEST_COMMENT))
            self._put(indent, f"// {' '.join(words).capitalize()}")

    def _class(self) -> None:
        name = f"Server{self._next()}"
        self._comment(0)
        self._put(0, f"class {name} {{")
        self._put(0, "public:")
        self._put(1, "Store* store = nullptr;")
        self._put(1, "std::vector<Future<Void>> pending;")
        self._put(1, "std::string label;")
        for _ in range(self._chance.randrange(2, 9)):
            self._put(0, "")
            if self._chance.random() < 0.4:
                self._actor(1, is_member=True)
            else:
                self._function(1)
        self._put(0, "};")

    def _function(self, indent: int) -> None:
        if self._chance.random() < 0.4:
            self._comment(indent)
        static = "static " if not indent else ""
        self._put(indent, f"[[maybe_unused]] {static}int function{self._next()}(Store* store, int limit) {{")
        self._put(indent + 1, "int total = limit;")
        self._plain_list(indent + 1, self._chance.randrange(2, 24))
        self._put(indent + 1, "return compute(total, limit);")
        self._put(indent, "}")

    # -----------------------------------------------------------------------------------------------------------
    # Plain code; `store`, `limit` and `total` are known everywhere

    def _plain_list(self, indent: int, lines: int) -> None:
        end = len(self._lines) + lines
        while len(self._lines) < end:
            self._plain(indent)

    def _plain(self, indent: int) -> None:
        number = self._chance.randrange(100)
        match self._chance.choices(("sum", "event", "local", "if", "for", "comment", "lambda"), (8, 4, 6, 5, 2, 4, 1))[
            0
        ]:
            case "sum":
                self._put(indent, f"total += compute(total, limit + {number}) * store->size();")
            case "event":
                self._put(indent, f'Event("StoreChanged{number}").detail("Total", total).detail("Limit", limit);')
            case "local":
                name = f"value{self._next()}"
                self._put(indent, f"const int {name} = compute(limit, {number}) + (total > {number} ? 1 : 0);")
                self._put(indent, f"total -= {name};")
            case "if":
                self._put(indent, f"if (total < limit && store->size() > {number}) {{")
                self._put(indent + 1, f'store->names[{number}] = "name {number}";')
                self._put(indent, "} else {" if number < 30 else "}")
                if number < 30:
                    self._put(indent + 1, f"total = compute({number}, total);")
                    self._put(indent, "}")
            case "for":
                self._put(indent, f"for (int i = 0; i < {number}; ++i) {{")
                self._put(indent + 1, "total = compute(total, i) ^ 0x5a5a;")
                self._put(indent, "}")
            case "lambda":
                self._put(indent, f"auto step{self._next()} = [&](int by) {{ total += by; return total; }}({number});")
                self._put(indent, f"(void)step{self._number};")
            case _:
                self._comment(indent)

    # -----------------------------------------------------------------------------------------------------------
    # Actors

    def _actor(self, indent: int, *, is_member: bool) -> None:
        if self._chance.random() < 0.4:
            self._comment(indent)
        kind = self._chance.choices(("Future<Void>", "Future<int>", "void"), (70, 25, 5))[0]
        static = "static " if is_member or self._chance.random() < 0.1 else ""
        name = f"actor{self._next()}"
        self._put(indent, f"ACTOR {static}{kind} {name}(Store* store, int limit, std::string label) {{")
        self._put(indent + 1, "state int total = 0;")
        if self._chance.random() < 0.3:
            self._put(indent + 1, f"state std::string name{self._number} = label;")
        self._list(indent + 1, self._chance.randrange(2, 60), 0)
        self._put(
            indent + 1, {"Future<Void>": "return Void();", "Future<int>": "return total;", "void": "return;"}[kind]
        )
        self._put(indent, "}")

    def _list(self, indent: int, lines: int, depth: int) -> None:
        end = len(self._lines) + lines
        while len(self._lines) < end:
            self._statement(indent, depth)

    def _statement(self, indent: int, depth: int) -> None:
        kinds = ("plain", "wait", "result", "state", "try", "choose", "loop", "if")
        weights = (130, 9, 9, 12, 5, 1, 5, 6) if depth < _DEEPEST else (130, 9, 9, 5, 0, 0, 0, 0)
        number = self._chance.randrange(100)
        match self._chance.choices(kinds, weights)[0]:
            case "wait":
                waits = ("delay(0.5)", f"store->write({number}, total)", "yield()")
                self._put(indent, f"wait({self._chance.choice(waits)});")
            case "result":
                state = "state " if number < 40 else ""
                name = f"result{self._next()}"
                self._put(indent, f"{state}int {name} = wait(store->read(total + {number}));")
                self._put(indent, f"total += {name};")
            case "state":
                self._put(indent, f"state std::vector<int> items{self._next()};")
                self._put(indent, f"items{self._number}.push_back(compute(limit, {number}));")
            case "try":
                self._try(indent, depth)
            case "choose":
                self._choose(indent, depth)
            case "loop":
                self._loop(indent, depth)
            case "if":
                self._put(indent, f"if (store->size() > {number}) {{")
                self._list(indent + 1, self._chance.randrange(1, 5), depth + 1)
                self._put(indent, "}")
            case _:
                self._plain(indent)

    def _try(self, indent: int, depth: int) -> None:
        self._put(indent, "try {")
        self._put(indent + 1, "wait(store->write(limit, total));")
        self._list(indent + 1, self._chance.randrange(1, 9), depth + 1)
        self._put(indent, "} catch (Error& e) {")
        self._put(indent + 1, "if (e.code() == error_code_actor_cancelled) throw;")
        if self._chance.random() < 0.5:
            self._put(indent + 1, "wait(store->onError(e));")
        self._put(indent, "}")

    def _choose(self, indent: int, depth: int) -> None:
        self._put(indent, "choose {")
        for _ in range(self._chance.choice((2, 2, 2, 2, 3, 4, 6))):
            name = f"next{self._next()}"
            head = (
                f"int {name} = waitNext(store->changes())",
                "wait(delay(5.0))",
                f"int {name} = wait(store->read(limit))",
            )
            chosen = self._chance.choice(head)
            self._put(indent + 1, f"when({chosen}) {{")
            if name in chosen:
                self._put(indent + 2, f"total = compute(total, {name});")
            self._list(indent + 2, self._chance.randrange(1, 3), _DEEPEST if depth else _DEEPEST - 1)
            self._put(indent + 1, "}")
        self._put(indent, "}")

    def _loop(self, indent: int, depth: int) -> None:
        self._put(
            indent, self._chance.choice(("loop {", "while (total < limit) {", "for (; total < limit; ++total) {"))
        )
        self._list(indent + 1, self._chance.randrange(2, 9), depth + 1)
        self._put(indent + 1, f"if (total > {self._chance.randrange(1000)}) break;")
        self._put(indent + 1, "wait(delay(1.0));")
        self._put(indent, "}")
