"""A plain header with declarations of actors, as both compilers see it before and after."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from trees import make, migrate

from actorc.__main__ import main
from common.precompiled import precompiled

ROOT = Path(__file__).parents[3]
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]
HEADER = """\
#pragma once
#include "flow/flow.h"
#include <memory>
#include <string>

namespace app {

struct Job {
    std::string text;
};

class Queue {
public:
    flow::Future<Job> take() { return takeNext(this); }
    [[nodiscard]] static flow::Future<Job> takeNext(Queue* const& self, int const& from = 0);

private:
    friend flow::Future<flow::Void> serve(Queue* const& queue, const std::string& name, flow::Future<Job> const& next);
    static flow::Future<flow::Void> expire(Queue* const&, std::unique_ptr<Job>&& job, double const& lease = 1.0);
    int taken_ = 0;
};

flow::Future<flow::Void> serve(Queue* const& queue, const std::string& name = "a", flow::Future<Job> const& next = {});
flow::Future<flow::Void> close(Queue* const& queue, Job&& last);
void log(int const& times);

} // namespace app
"""
SOURCE = """\
#include "queue.h"
using namespace flow;
#include "flow/actorcompiler.h" // This must be the last #include.

namespace app {

ACTOR Future<Job> Queue::takeNext(Queue* self, int from) {
    wait(delay(from));
    Job job{std::to_string(self->taken_)};
    return job;
}

ACTOR Future<Void> Queue::expire(Queue* self, std::unique_ptr<Job> job, double lease) {
    wait(delay(lease));
    self->taken_ += job->text.size();
    return Void();
}

ACTOR UNCANCELLABLE Future<Void> close(Queue* queue, Job&& last) {
    wait(serve(queue, last.text));
    return Void();
}

ACTOR void log(int times) {
    wait(delay(times));
}

} // namespace app

ACTOR Future<Void> app::serve(Queue* queue, std::string const& name, Future<Job> next) {
    Job job = wait(next);
    wait(Queue::expire(queue, std::make_unique<Job>(job)) && delay(name.size()));
    return Void();
}
"""
MAIN = """\
#include "queue.h"

flow::Future<flow::Void> all(app::Queue& queue) {
    app::log(3);
    return app::serve(&queue) && app::close(&queue, app::Job()) && flow::success(app::Queue::takeNext(&queue));
}
"""


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_a_declaration_that_is_not_given_is_enough_where_nothing_changes(
    style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    actor = '#include "a.h"\nACTOR Future<Void> f() {\n    wait(delay(1));\n    return Void();\n}\n'
    make(tmp_path, {"a.h": "Future<Void> f();\n", "a.actor.cpp": actor})
    assert migrate("a.actor.cpp", "--write", f"--style={style}") == 0
    assert "Future<Void> f() {" in (tmp_path / "a.cpp").read_text()


def compiles(folder: Path, compiler: str, source: str) -> None:
    """As one unit: there a call is ambiguous if what is declared is not what is defined."""
    (folder / "all.cpp").write_text((folder / source).read_text() + (folder / "main.cpp").read_text())
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += [*precompiled(*command), "-fsyntax-only", f"-I{folder}", f"-I{ROOT}", "all.cpp"]
    subprocess.run(command, cwd=folder, check=True)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_before_and_after(
    style: str,
    compiler: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path, {"queue.h": HEADER, "queue.actor.cpp": SOURCE, "main.cpp": MAIN})
    assert main(["queue.actor.cpp", "queue.actor.g.cpp"]) == 0
    compiles(tmp_path, compiler, "queue.actor.g.cpp")
    (tmp_path / "queue.actor.g.cpp").unlink()
    assert migrate("queue.h", "queue.actor.cpp", "main.cpp", "--write", f"--style={style}") == 0
    compiles(tmp_path, compiler, "queue.cpp")
    assert "H11" not in capsys.readouterr().out
