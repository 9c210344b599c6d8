"""Every function of the headers below that gives a future is cancelled everywhere in
tests/flow/combine/every_cancel_test.cpp, says what a cancel does, and has a benchmark; so have classes, metrics,
clocks, named errors and ASSERT_NEAR."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Not quorum.h and race.h: quorumOf() is a part of others, and each operand of race() has tests of its own.
HEADERS = sorted(
    header
    for pattern in (
        "combine/*",
        "sync/async_*",
        "compat/collection",
        "threads/on_loop",
        "testing/unit_test",
        "compat/async_*",
        "compat/flow_*",
        "compat/indexed_set",
        "compat/outcome",
        "compat/stop_after",
    )
    for header in (ROOT / "flow").glob(f"{pattern}.h")
    if header.name not in ("quorum.h", "race.h")
)
TABLE = ROOT / "tests/flow/combine/every_cancel_test.cpp"
# A function that gives a future, or a time to wait for; or one outside classes that takes a future.
DECLARATION = re.compile(
    r"^(?: {4})?(?:\[\[nodiscard\]\] |inline |static |template <[^;{]*> )*(?:Future<.*>|Delay|Yield|auto|void)\s"
    r"(operator..|\w+)\(([^{;]*)",
    re.MULTILINE,
)
# Private, or no part of what programs wait for.
OTHERS = {"runTestCase", "acquire", "watch"}
# Members are measured by the name of their class.
BENCHMARKS: dict[str | tuple[str, str], str] = {
    "operator&&": "and",
    "getAll": "all",
    "some": "race",
    "operator||": "or",
    "getResult": "collection",
    "onTrigger": "AsyncTrigger",
    ("async_var.h", "onChange"): "AsyncVar",
    ("async_map.h", "onChange"): "AsyncMap",
    ("flow_lock.h", "take"): "FlowLock",
    ("flow_lock.h", "takeUpTo"): "FlowLock",
    ("flow_mutex.h", "take"): "FlowMutex",
    "signal": "SignalableActorCollection",
    "signalAndReset": "SignalableActorCollection",
    "signalAndCollapse": "SignalableActorCollection",
    "ActorCollection": "collection",
    "text": "metrics_text",
}
# Of tests, or parts of others.
NOT_MEASURED = {"Metric", "RemoteCall", "UnitTest", "UnitTestParameters"}


def functions(header: str) -> set[str]:
    """The names of what can be waited for, without what the header keeps to itself."""
    public = re.sub(
        r"^namespace (detail|combine|testing) \{$.*?^\} // namespace \1$", "", header, flags=re.DOTALL | re.MULTILINE
    )
    found = set()
    for declared in DECLARATION.finditer(public):
        name, parameters = declared.groups()
        gives = declared.group(0)[: declared.start(1) - declared.start(0)]
        if not re.search(r"\bvoid\b", gives) or ("Future<" in parameters and not gives.startswith(" ")):
            found.add(name)
    return found - OTHERS


def test_what_counts_as_a_function() -> None:
    header = """
namespace detail {
Future<Void> hidden(Future<Void> x);
} // namespace detail
Future<std::vector<T>> getAll(std::vector<Future<T>> futures) {
class Lock {
    [[nodiscard]] Future<Void> take(int amount = 1);
    void release(int amount);
inline Delay jitter(double seconds) {
Future<Void> operator&&(A const& a, B const& b) {
void forward(Promise<T> output, Future<T> input) {
auto onLoop(Loop& target, F call) {
"""
    assert functions(header) == {"getAll", "take", "jitter", "operator&&", "forward", "onLoop"}


def library() -> list[tuple[Path, set[str]]]:
    """The headers that have such functions."""
    all_functions = [(header, functions(header.read_text(encoding="utf-8"))) for header in HEADERS]
    return [(header, names) for header, names in all_functions if names]


def test_every_function_of_the_library_is_cancelled() -> None:
    table = set(re.findall(r'"(operator..|\w+)', TABLE.read_text(encoding="utf-8")))
    missing = {f"{header.name}: {name}" for header, names in library() for name in names if name not in table}
    assert missing == set()


def test_every_header_of_the_library_says_what_a_cancel_does() -> None:
    silent = set()
    for header, _ in library():
        opening = re.match(r"#pragma once\n((?://.*\n)+)", header.read_text(encoding="utf-8"))
        if not opening or not re.search(r"\b[Cc]ancel", opening[1]):
            silent.add(header.name)
    assert silent == set()


def rows(*sources: str) -> set[str]:
    return set(re.findall(r'"(\w+)"', "".join((ROOT / "bench" / name).read_text(encoding="utf-8") for name in sources)))


def test_every_function_of_the_library_has_a_benchmark() -> None:
    measured = rows("work.cpp", "library.cpp")
    missing = {
        f"{header.name}: {name}"
        for header, names in library()
        for name in names
        if BENCHMARKS.get((header.name, name), BENCHMARKS.get(name, name)) not in measured
    }
    assert missing == set()


def test_classes_clocks_and_macros_have_a_benchmark() -> None:
    headers = [*HEADERS, ROOT / "flow/trace/metrics.h"]
    names = {"text", "wallTime", "machineTime", "FLOW_ERROR", "ASSERT_NEAR"}
    for header in headers:
        names |= set(re.findall(r"^class (\w+)(?: final)? [:{]", header.read_text(encoding="utf-8"), re.MULTILINE))
    measured = rows("work.cpp", "library.cpp", "values.cpp")
    missing = {name for name in names - NOT_MEASURED if BENCHMARKS.get(name, name) not in measured}
    assert missing == set()


def test_every_header_compiles_behind_the_keyword_loop() -> None:
    """Flow leaves the macro `loop` defined, and so does compat: a header uses no such name, or puts the macro aside."""
    uses = set()
    for header in [*(ROOT / "flow").rglob("*.h"), *(ROOT / "net").rglob("*.h")]:
        text = header.read_text(encoding="utf-8")
        code = re.sub(r'//.*|/\*.*?\*/|"(\\.|[^"\\\n])*"|^#.*', "", text, flags=re.MULTILINE)
        if re.search(r"\bloop\b", code) and '#pragma push_macro("loop")' not in text and "examples" not in header.parts:
            uses.add(str(header.relative_to(ROOT)))
    assert uses == set()
