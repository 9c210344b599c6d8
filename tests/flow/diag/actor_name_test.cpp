#include "flow/diag/detail/actor_name.h"

#include <doctest/doctest.h>

#include <map>

using flow::actorName;
using flow::isFunctionNamed;

namespace {

std::string name(std::string const& symbol) {
    return actorName(symbol, [](std::string const& function) { return function == "Capital"; });
}

std::string machine(std::string const& state) {
    return name("flow::actor::Actor<flow::Future<std::map<int, long> >, " + state +
                ", (flow::actor::Kind)0>::resumeActor(flow::Waiter*)");
}

} // namespace

TEST_CASE("actor name: state machines") {
    CHECK(machine("FetchActorState") == "fetch");
    CHECK(machine("(anonymous namespace)::FetchActorState") == "fetch");
    CHECK(machine("outer::inner::FetchActor12State") == "outer::inner::fetch");
    CHECK(machine("MyClass::FetchActorState") == "MyClass::fetch");
    CHECK(machine("MyClass<std::pair<int, char> >::FetchActorState") == "MyClass<std::pair<int, char> >::fetch");
    CHECK(machine("(anonymous namespace)::MapActorState<int, a::B<(a::C)0> >") == "map");
    CHECK(machine("CapitalActorState") == "Capital");
    CHECK(machine("RunActorStateActorState") == "runActorState");
    CHECK(machine("MyClass::later(MyClass* const&, flow::Future<flow::Void> const&)::MyClass_LaterActorState") ==
          "MyClass::later");
    CHECK(machine("(anonymous namespace)::later(int const&)::LaterActorState") == "later");
    CHECK(machine("SomethingElse") == "SomethingElse");
    CHECK(name("(anonymous namespace)::FetchActorState::a_body(flow::actor::Frame<int>&)") == "fetch");
    CHECK(name("auto MyClass::MapActor2State<int>::a_packs<int>(flow::actor::Frame<int>&, int&)") == "MyClass::map");
}

TEST_CASE("actor name: functions and coroutines") {
    CHECK(name("fetch(flow::Future<flow::Void>)") == "fetch");
    CHECK(name("fetch(int) [clone .resume]") == "fetch");
    CHECK(name("(anonymous namespace)::fetch(int, std::function<void (int)>) [clone .actor]") == "fetch");
    CHECK(name("MyClass::find(int) const") == "MyClass::find");
    CHECK(name("flow::Future<int> (anonymous namespace)::map<int, long>(int, long)") == "map");
    CHECK(name("MyClass::member(int const&)::MemberActor::run(int const&)") == "MyClass::member");
    CHECK(name("(anonymous namespace)::voided(int)::VoidedActor3::run(int)") == "voided");
    CHECK(name("f()::{lambda(int)#1}::operator()(int) const") == "f()::{lambda(int)#1}::operator()");
    CHECK(name("Server::f() const::{lambda(int)#1}::operator()(int) const") ==
          "Server::f() const::{lambda(int)#1}::operator()");
    CHECK(name("f()::$_0::operator()(int) const") == "f()::$_0::operator()");
    CHECK(name("text[abi:cxx11](int)") == "text[abi:cxx11]");
    CHECK(name("MyActor::run(int)") == "MyActor::run"); // not within a function: a user's own
}

TEST_CASE("actor name: a fiber has that of its function") {
    CHECK(
        name("void flow::fiber::detail::resumeFiber<int, (anonymous namespace)::work()::$_0>(flow::detail::Waiter*)") ==
        "work()::$_0");
    CHECK(name("void flow::fiber::detail::resumeFiber<std::map<int, long>, Server::Job>(flow::detail::Waiter*)") ==
          "Server::Job");
}

TEST_CASE("actor name: what is no such symbol stays") {
    for (char const* symbol :
         {"main", "", "0x1234", "flow::actor::Actor<int>::resumeActor", "a::b", "(", ")", "f(()", "flow::actor::Actor<",
          "flow::fiber::detail::resumeFiber<", "operator<", "(anonymous namespace)::x", "(anonymous namespace)"})
        CHECK(name(symbol).size() <= std::string(symbol).size());
    CHECK(name("main") == "main");
    CHECK(name("a::b") == "a::b");
    CHECK(name("(anonymous namespace)::x") == "x");
}

TEST_CASE("actor name: functions of a name") {
    CHECK(isFunctionNamed("Fetch(int)", "Fetch"));
    CHECK(isFunctionNamed("int a::Fetch<int>(int)", "Fetch"));
    CHECK_FALSE(isFunctionNamed("Fetch::Fetch(int)", "Fetch"));
    CHECK_FALSE(isFunctionNamed("take(Fetch)", "Fetch"));
    CHECK_FALSE(isFunctionNamed("Fetch::close()", "Fetch"));
}
