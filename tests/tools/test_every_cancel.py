"""Every function of flow/lib that gives a future stands in the table of tests/flow/lib/every_cancel_test.cpp."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/flow/lib/every_cancel_test.cpp"
# A function that gives a future, or a time to wait for; or one outside classes that takes a future.
DECLARATION = re.compile(
    r"^(?: {4})?(?:\[\[nodiscard\]\] |inline |static |template <[^;{]*> )*(?:Future<.*>|Delay|Yield|auto|void)\s"
    r"(operator..|\w+)\(([^{;]*)",
    re.MULTILINE,
)
# Private, or no part of what programs wait for.
OTHERS = {"runTestCase", "acquire", "watch"}


def functions(header: str) -> set[str]:
    """The names of what can be waited for, without what the header keeps to itself."""
    public = re.sub(r"^namespace detail \{$.*?^\} // namespace detail$", "", header, flags=re.DOTALL | re.MULTILINE)
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


def test_every_function_of_the_library_is_cancelled() -> None:
    table = set(re.findall(r'"(operator..|\w+)', TABLE.read_text(encoding="utf-8")))
    missing = {
        f"{header.name}: {name}"
        for header in (ROOT / "flow/lib").glob("*.h")
        for name in functions(header.read_text(encoding="utf-8"))
        if name not in table
    }
    assert missing == set()
