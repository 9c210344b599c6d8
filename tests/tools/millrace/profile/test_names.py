"""Names of functions, shortened for people and for causes.toml."""

from __future__ import annotations

import pytest

from millrace.profile.names import qualified, short

MACHINE = (
    "flow::actor::Actor<flow::actor::PropagatingFrame<flow::Void>, "
    "state_machine::(anonymous namespace)::FollowActorState, (flow::actor::Kind)0>::"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("main", "main"),
        ("flow::memory::release(void*, unsigned char)", "flow::memory::release"),
        ("(anonymous namespace)::follow(flow::Future<flow::Void>, unsigned int*)", "follow"),
        ("(anonymous namespace)::follow(flow::Future<flow::Void>, unsigned int*) [clone .resume]", "follow [resume]"),
        ("(anonymous namespace)::follow((anonymous namespace)::Queue&) [clone .destroy]", "follow [destroy]"),
        ("follow(follow(flow::Future<int>)::_Z6followN4flow6FutureIiEE.Frame*) [clone .actor]", "follow [resume]"),
        ("follow(int) [clone .cold]", "follow"),
        (MACHINE + "resumeActor(flow::detail::Waiter*)", "follow [resume]"),
        (MACHINE + "destroyActor(flow::detail::Waiter*)", "follow [destroy]"),
        (
            "flow::Future<flow::Void> " + MACHINE + "create<flow::Future<flow::Void> const&>(flow::Future<flow::Void>)",
            "follow [start]",
        ),
        ("state_machine::(anonymous namespace)::FollowActorState::a_body(flow::actor::Frame<int>&)", "follow [body]"),
        ("flow::Future<flow::Void> flow::waitForAll<flow::Void>(std::vector<int> const&)", "flow::waitForAll"),
        ("flow::Optional<int>::operator->() const", "flow::Optional::operator->"),
        ("bool flow::operator< <int>(flow::UID const&, flow::UID const&)", "flow::operator<"),
        ("operator new(unsigned long)", "operator new"),
        ("flow::coro::CoroPromiseBase<int, flow::coro::Signature<> >::operator new(unsigned long)",
         "flow::coro::CoroPromiseBase::operator new"),
        ("flow::coro::CoroPromiseBase<int, flow::coro::Signature<int>>::operator new(unsigned long) requires "
         "T0::kFrameLimit == 0", "flow::coro::CoroPromiseBase::operator new"),
        ("auto flow::choose<int requires std::integral<T>>(int) (.resume.0)", "flow::choose [resume]"),
        ("bench::run(bench::Work const&)::$_0::operator()(int) const", "bench::run::lambda::operator()"),
        ("std::__n4861::coroutine_handle<void>::resume() const", "std::coroutine_handle::resume"),
        ("cfree@GLIBC_2.2.5", "cfree@GLIBC_2.2.5"),
    ],
)  # fmt: skip
def test_a_name_has_neither_parameters_nor_arguments(name: str, expected: str) -> None:
    assert qualified(name) == expected


def test_our_namespaces_are_known() -> None:
    assert short("flow::detail::wakeAllButLast(flow::detail::Cell*)") == "wakeAllButLast"
    assert short("state_machine::follow(flow::Future<int> const&)") == "follow"
    assert short("std::vector<int, std::allocator<int> >::push_back(int&&)") == "std::vector::push_back"
