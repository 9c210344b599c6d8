"""The declarations on the pages of headers: tools/docslib/declarations.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from docslib.declarations import Declaration, declarations  # noqa: E402
from docslib.headers import public_headers  # noqa: E402


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {header.path: header.page for header in public_headers()}


def flat(found: list[Declaration]) -> list[tuple[str, str]]:
    return [pair for each in found for pair in ((each.code, " ".join(each.comment)), *flat(each.members))]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int f(int a, F g = {}) {\n    return a;\n}", "int f(int a, F g = {});"),
        ("inline bool f() { return true; }", "bool f();"),
        ("template <class T>\n    requires Is<T>\nauto f(T a)\n    -> A<T> {\n    return a;\n}",
         "template <class T>\n    requires Is<T>\nauto f(T a)\n    -> A<T>;"),
        ("bool f(detail::Caller caller = detail::Caller::current());", "bool f();"),
        ("bool f(int a,\n       std::source_location caller = std::source_location::current());", "bool f(int a);"),
        ("struct A {\n    int b;\n};", "struct A;"),
        ("enum class A : char { B, C };", "enum class A : char { B, C };"),
        ("using A = std::vector<B>;", "using A = std::vector<B>;"),
        ("template <class T>\nconcept A = requires(T t) {\n    t.b();\n};",
         "template <class T>\nconcept A = requires(T t) {\n    t.b();\n};"),
        ("inline constexpr int kA = 1; // why", "constexpr int kA = 1; // why"),
        ('std::string a = "//{"; // why', 'std::string a = "//{"; // why'),
        ("#define ASSERT(a)      \\\n    (a)", "#define ASSERT(a)"),
        ("/// Why.\n#define FLOW_A 1", "#define FLOW_A"),
        ("// FLOW_A: why.\n#define FLOW_A(x) 1", "#define FLOW_A(x)"),
    ],
)  # fmt: skip
def test_a_declaration_is_shown_without_its_body(text: str, code: str) -> None:
    assert declarations(text)[0].code == code


@pytest.mark.parametrize(
    "text",
    [
        "class A;",
        "template <class T>\nclass A;",
        "namespace detail {\nint a();\n}",
        "namespace flow::detail {\nint a();\n} // namespace flow::detail",
        "namespace {\nint a();\n} // namespace",
        "int A::b() {\n    return 1;\n}",
        "template <class T>\nstruct A<T*> {\n    int b;\n};",
        "static_assert(sizeof(A) == 8);",
        "using namespace std;",
        "A(int) -> A<int>;",
        "#define FLOW_A 1",
        "#define A 1\n#undef A",
        "// Only text.",
    ],
)
def test_what_is_not_public_is_left_out(text: str) -> None:
    assert declarations(text) == []


def test_what_follows_a_left_out_namespace_is_shown() -> None:
    text = "namespace flow {\nnamespace detail {\nint a();\n}\n\nint b();\n} // namespace flow\n"
    assert flat(declarations(text)) == [("int b();", "")]


def test_members_are_the_public_ones_with_their_comments() -> None:
    text = """\
/// Of A.
class A : public B {
    int hidden;

public:
    /// Makes one,
    /// slowly.
    explicit A(int a) : B(a), c_{a} {
        d();
    }
    A(A const&) = delete;
    A(A&& other) noexcept : B(other) {}
    ~A() { d(); }
    /// Whether both are one.
    friend bool operator==(A const&, A const&) = default;
    int size() const { return c_; }
    struct Inner {
        bool (*called)(int) = nullptr;
    };

protected:
    void e();

private:
    int c_;
};
"""
    assert flat(declarations(text)) == [
        ("class A : public B;", "Of A."),
        ("explicit A(int a);", "Makes one, slowly."),
        ("friend bool operator==(A const&, A const&) = default;", "Whether both are one."),
        ("int size() const;", ""),
        ("struct Inner;", ""),
        ("bool (*called)(int) = nullptr;", ""),
    ]


def test_the_comment_of_a_definition_is_shown_where_the_first_declaration_has_none() -> None:
    assert flat(declarations("int a();\n/// Why.\ninline int a() { return 1; }\n")) == [("int a();", "Why.")]


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (
            "flow/trace/metrics.h",
            [
                "### `powers()`",
                "Returns `count` bounds for a histogram",
            ],
        ),
        (
            "flow/combine/retry.h",
            ["int attempts = 5;      // the most attempts; at least one is made", "bool (*retries)(Error) = nullptr;"],
        ),
        ("flow/base/error.h", ["#define FLOW_ERROR(name, code, description)", "bool isInjectedFault() const;"]),
        (
            "flow/sync/semaphore.h",
            ["### `Semaphore::Permit`", "Returns the number of free permits."],
        ),
        ("flow/loop/loop.h", ["Reads the date in seconds since 1970, UTC"]),
    ],
)
def test_pages_have_what_their_headers_declare(pages: dict[str, str], path: str, parts: list[str]) -> None:
    page = pages[path]
    assert [part for part in parts if part not in page] == []
    assert "private:" not in page and "detail::Caller" not in page and "source_location caller" not in page
