"""`actorc check`: waits that destroy what they wait for (A0711), and what looks like one and is none.

The actors that are wrong have a mark at the place that must be reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import ROOT
from front import unmarked

from actorc.diagnostics import Diagnostics
from actorc.report.explain import page
from actorc.source import Source
from actorc_check.command import check

pytest.importorskip("clang")

HEAD = """\
#include "flow/flow.h"
#include "flow/sync/channel.h"
#include "flow/sync/semaphore.h"
#include "net/connection.h"
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>
using namespace flow;
using Read = net::Connection;
struct Host {
    int n = 1;
    Channel<int> numbers{1};
    Channel<int>* others = nullptr;
    Future<int> later() { co_await delay(1); co_return n; }
    Future<int> before() { int seconds = n; co_await delay(seconds); co_return seconds; }
    Future<int> shared() { return get(this); }
    Future<int> deeper() { return shared(); }
    Future<int> copied() { return first(this); }
    Future<int> kept() { return keep(numbers.receive()); }
    Future<int> ready() { return n; }
    static Future<int> get(Host* const& self);
    static Future<int> first(Host* const& self);
};
struct Session { Reference<Read> c; std::unique_ptr<Host> host; Host own; };
struct Owner {
    std::vector<Reference<Read>> all;
    Reference<Read> one;
    std::unique_ptr<Host> host;
    Reference<Read> get();
};
Future<Reference<Read>> open();
Future<Session> session();
void use(Reference<Read>);
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<int> Host::get(Host* self) { wait(delay(1)); return self->n; }
ACTOR Future<int> Host::first(Host* self) { int seconds = self->n; wait(delay(seconds)); return 1; }
"""
WRONG = {
    "result": "Reference<Read> c = wait(open()); net::Bytes b = wait(@@c->read());",
    "result by reference": "Reference<Read> const& c = wait(open()); net::Bytes b = wait(@@c->read());",
    "pointer": "Reference<Read> c = wait(open()); auto* p = c.getPtr(); net::Bytes b = wait(@@p->read());",
    "lambda": "Reference<Read> c = wait(open()); auto f = [&] { return c->read(); }; net::Bytes b = wait(@@f());",
    "operation": "Host h; auto next = h.numbers.receive(); int n = wait(@@next);",
    "object": "Host h; int n = wait(@@h.numbers.receive());",
    "reference": "Host h; Host& same = h; int n = wait(@@same.numbers.receive());",
    "unique": "std::unique_ptr<Host> h = std::make_unique<Host>(); int n = wait(@@h->numbers.receive());",
    "optional": "std::optional<Host> h; int n = wait(@@h->numbers.receive());",
    "element": "std::vector<Host> h(1); int n = wait(@@h[0].numbers.receive());",
    "lock": "Mutex mutex; Mutex::Lock lock = wait(@@mutex.lock());",
    "loop": "loop { Host h; int n = wait(@@h.numbers.receive()); }",
    "argument": "Channel<std::string>* texts = nullptr; std::string n; wait(texts->send(@@n));",
    "view": 'std::string end = "x"; net::Bytes b = wait(owner->one->readUntil(@@end, 10));',
    "buffer": "char buffer[10]; std::size_t n = wait(owner->one->readSome(@@buffer));",
    "parts": """\
        Session s = wait(session());
        choose {
            when(net::Bytes b = wait(@@s.c->read())) {}
            when(int n = wait(@@s.host->numbers.receive())) {}
            when(int n = wait(@@s.own.numbers.receive())) {}
        }""",
    "coroutine": "Host h; int n = wait(@@h.later());",
    "actor": "Host h; int n = wait(@@h.shared());",
    "two calls": "Host h; int n = wait(@@h.deeper());",
    "keep": "Host h; int n = wait(@@h.kept());",
    "address": "Host h; int n = wait(Host::get(&@@h));",
    "both": "Host h; wait(success(@@h.shared()) && delay(1));",
    "kept future": "Host h; state Future<int> found = @@h.shared(); wait(delay(1)); int n = wait(found);",
}
RIGHT = {
    "held": "int n = 1; wait(numbers->send(n));",  # a number is copied into the operation
    "state": "state Host h; int n = wait(h.numbers.receive());",
    "held elsewhere": "Reference<Read> c = owner->one; net::Bytes b = wait(c->read());",
    "may be held": "Reference<Read> c = owner->get(); net::Bytes b = wait(c->read());",
    "given away": "Reference<Read> c = wait(open()); use(c); net::Bytes b = wait(c->read());",
    "of a future": "Reference<Read> c = wait(opening); net::Bytes b = wait(c->read());",
    "of a range": "for (auto& c : owner->all) { net::Bytes b = wait(c->read()); }",
    "referred": "Host& h = *owner->host; int n = wait(h.numbers.receive());",
    "pointed to": "Host h; h.others = numbers; int n = wait(h.others->receive());",
    "moved from": "std::vector<net::Bytes> pieces; wait(owner->one->write(pieces));",
    "literal": 'net::Bytes b = wait(owner->one->readUntil("x"_sr, 10));',
    "used before": "Host h; int n = wait(h.before());",
    "used before by an actor": "Host h; int n = wait(h.copied());",
    "ready": "Host h; int n = wait(h.ready());",
}
_ACTOR = "(Owner* owner, Channel<int>* numbers, Future<Reference<Read>> opening)"


def test_a_wait_that_destroys_what_it_waits_for(tmp_path: Path) -> None:
    """All in one file, since most of the time goes into the headers."""
    known = page("A0711")
    texts = [*known.right, *known.wrong]
    for name, body in (WRONG | RIGHT).items():
        end = "" if name == "loop" else "wait(delay(1));\nreturn Void();\n"
        texts.append(f"ACTOR Future<Void> test{_ACTOR} {{\n{body}\n{end}}}\n")
    text, marks = unmarked(HEAD + "".join(f"namespace part{n} {{\n{text}}}\n" for n, text in enumerate(texts)))
    path = tmp_path / "dying.actor.cpp"
    path.write_text(text, encoding="utf-8")
    diagnostics, source = Diagnostics(), Source.read(str(path))
    check(source, ["-std=c++20", f"-I{ROOT}"], diagnostics)
    assert {each.code for each in diagnostics} == {"A0711"}
    of_page, found = list(diagnostics)[: len(known.wrong)], list(diagnostics)[len(known.wrong) :]
    differing = {each.span.start for each in found} ^ set(marks)
    assert not {source.line_text(source.line(place)) for place in differing}
    for each, right in zip(of_page, known.right, strict=True):
        assert each.hint is not None
        assert each.hint.startswith("declare it with `state`: `state C")
        assert right in each.fixes[0].apply(text)
