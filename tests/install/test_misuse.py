"""What an assertion of the library says of a program that was compiled for use: which line of it is wrong."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

HEAD = """\
#include "flow/compat/flow_lock.h"
#include "flow/flow.h"
#include <cstdlib>
#include <functional>
using namespace flow;
"""
# Each is marked with what the message names, in the order of the calls.
ACTORS = """\
#include "flow/actorcompiler.h"
ACTOR Future<Void> one(Future<Void> bad) {
    state std::vector<Future<Void>> some(2, bad);
    wait(waitForAll(some)); // one
    return Void();
}
ACTOR Future<Void> two(Future<Void> bad) {
    wait(delay(0));
    wait(bad && delay(1)); // two
    return Void();
}
ACTOR Future<Void> three(Future<Void> bad) {
    state FlowLock lock(1);
    wait(delay(0));
    lock.release(3); // three
    return Void();
}
ACTOR Future<Void> four(Future<Void> bad) {
    wait(retry({.backoff = -1}, [] { return Future<Void>(Never()); })); // four
    return Void();
}
"""
COROUTINES = """\
Future<Void> one(Future<Void> bad) {
    std::vector<Future<Void>> some(2, bad);
    co_await waitForAll(some); // one(
}
Future<Void> two(Future<Void> bad) {
    co_await delay(0);
    co_await (bad && delay(1)); // two(
}
Future<Void> three(Future<Void> bad) {
    (void)co_await race(bad, delay(1)); // three(
}
Future<Void> four(Future<Void> bad) {
    std::function<Future<Void>(int)> call = [bad](int) {
        return bad || delay(1); // four(
    };
    co_await call(1);
}
"""
MAIN = """\
int main(int, char** arguments) {
    RealLoop loop;
    Future<Void> (*misuses[])(Future<Void>) = {
        [](Future<Void> bad) { return one(bad); },
        [](Future<Void> bad) { return two(bad); },
        [](Future<Void> bad) { return three(bad); },
        [](Future<Void> bad) { return four(bad); },
    };
    loop.run(misuses[std::atoi(arguments[1])](Future<Void>()));
}
"""


@pytest.mark.parametrize("optimised", ["-O2", "-O0"])
@pytest.mark.parametrize("style", ["state-machine", "coroutine", "by hand"])
def test_it_names_the_line_of_the_program(
    style: str, optimised: str, shell: dict[str, str], prefix: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "a folder $HOME"  # which a shell may not read
    folder.mkdir()
    source = folder / "misuse.actor.cpp"
    text = HEAD + (COROUTINES if style == "by hand" else ACTORS) + MAIN
    source.write_text(text, encoding="utf-8")
    emitted = source
    if style != "by hand":
        emitted = folder / "misuse.cpp"
        subprocess.run([prefix / "bin" / "actorc", source, emitted, "--backend", style], env=shell, check=True)
    compiled = f"clang++-19 -std=c++20 {optimised} -g1 -o misuse -x c++ '{emitted}' -x none"
    subprocess.run(f"{compiled} $(pkg-config --cflags --libs millrace)", shell=True, cwd=folder, env=shell, check=True)
    loaded = subprocess.run(["readelf", "-d", "misuse"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "libc.so" in loaded
    assert not re.search("liburing|libcares|libsodium", loaded), "only what it uses"
    expected = [
        (match[1], text.count("\n", 0, match.start()) + 1)
        for match in re.finditer(r"; // ([\w(]+)$", text, re.MULTILINE)
    ]
    assert len(expected) == 4
    for number, (function, line) in enumerate(expected):
        ran = subprocess.run(["./misuse", str(number)], cwd=folder, env=shell, capture_output=True, text=True)
        assert ran.returncode == -6
        called = re.search(r"called by (.*?)( at .*)?$", ran.stderr, re.MULTILINE)
        assert called, ran.stderr
        assert called[1].startswith(function), ran.stderr
        assert re.findall(r"^flow: .* at (.*:\d+)$", ran.stderr, re.MULTILINE) == [f"{source}:{line}"], ran.stderr
