#include "flow/trace/span_context.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::trace;

namespace span_context_test {
namespace {

std::string const kTrace = "4bf92f3577b34da6a3ce929d0e0e4736", kSpan = "00f067aa0ba902b7";
std::string const kParent = "00-" + kTrace + "-" + kSpan + "-01";

std::string members(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += (i ? "," : "") + ("k" + std::to_string(i)) + "=v";
    return text;
}

} // namespace

TEST_CASE("traceparent: what is printed is read back") {
    std::optional<SpanContext> context = SpanContext::parse(kParent);
    REQUIRE(context);
    CHECK(context->traceId.toString() == kTrace);
    CHECK(context->spanIdText() == kSpan);
    CHECK(context->isSampled);
    CHECK(context->traceparent() == kParent);
    CHECK(SpanContext::parse("00-" + kTrace + "-" + kSpan + "-00")->traceparent().ends_with("-00"));
}

TEST_CASE("traceparent: only the flag for sampled is passed on") {
    CHECK(SpanContext::parse("00-" + kTrace + "-" + kSpan + "-ff")->traceparent() == kParent);
    CHECK_FALSE(SpanContext::parse("00-" + kTrace + "-" + kSpan + "-fe")->isSampled);
}

TEST_CASE("traceparent: a later version is read as version 00") {
    for (std::string const& text :
         {"01" + kParent.substr(2), "cc" + kParent.substr(2) + "-what-comes-later", "fe" + kParent.substr(2) + "-"}) {
        INFO(text);
        REQUIRE(SpanContext::parse(text));
        CHECK(SpanContext::parse(text)->traceparent() == kParent);
    }
}

TEST_CASE("traceparent: a text that breaks a rule is none") {
    std::string const zeros(32, '0');
    for (std::string const& text : {
             std::string(),
             std::string("00"),
             kParent.substr(0, 54),
             kParent + "-",
             kParent + "-00",
             kParent + " ",
             " " + kParent,
             "ff" + kParent.substr(2),
             "0x" + kParent.substr(2),
             "cc" + kParent.substr(2) + "0",
             "cc" + kParent.substr(2) + ".x",
             "00-" + zeros + "-" + kSpan + "-01",
             "00-" + kTrace + "-" + zeros.substr(16) + "-01",
             "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01",
             "00-" + kTrace + "-00F067AA0BA902B7-01",
             "00-" + kTrace + "-" + kSpan + "-0A",
             "00-" + kTrace + "-" + kSpan + "-0.",
             "00-" + kTrace.substr(1) + "g-" + kSpan + "-01",
             "00_" + kTrace + "-" + kSpan + "-01",
             "00-" + kTrace + "_" + kSpan + "-01",
             "00-" + kTrace + "-" + kSpan + "_01",
             std::string(55, '-'),
             std::string(100'000, '0'),
         }) {
        INFO(text.substr(0, 100));
        CHECK_FALSE(SpanContext::parse(text));
    }
}

TEST_CASE("traceparent: in each place only its characters are taken") {
    for (std::size_t place = 0; place < kParent.size(); ++place) {
        for (int character = 0; character < 256; ++character) {
            std::string text = kParent;
            text[place] = static_cast<char>(character);
            bool isDigit = std::string_view("0123456789abcdef").find(text[place]) != std::string_view::npos;
            bool isValid = kParent[place] == '-' ? text[place] == '-' : isDigit;
            INFO(place, ": ", character);
            REQUIRE(SpanContext::parse(text).has_value() == isValid);
            if (isValid && place > 2 && place < 52)
                REQUIRE(SpanContext::parse(text)->traceparent() == text);
        }
    }
}

TEST_CASE("tracestate: members are passed on in their order, without blanks and empty members") {
    CHECK(checkedTracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE") == "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    CHECK(checkedTracestate(" a=1 ,\t b=2,,c/d*e-f_g=3\t") == "a=1,b=2,c/d*e-f_g=3");
    CHECK(checkedTracestate("0tenant@vendor=a b") == "0tenant@vendor=a b");
    CHECK(checkedTracestate(" , ,") == "");
    CHECK(checkedTracestate(members(32)) == members(32));
    CHECK(SpanContext::parse(kParent, "a=1,b=2")->state == "a=1,b=2");
}

TEST_CASE("tracestate: a text that breaks a rule is dropped, and the traceparent holds") {
    for (std::string const& text :
         {std::string("a"), std::string("=1"), std::string("a="), std::string("A=1"), std::string("1a=1"),
          std::string("a=1,a=2"), std::string("a@=1"), std::string("@b=1"), std::string("a@b@c=1"),
          std::string("a@1b=1"), std::string("a@" + std::string(15, 'b') + "=1"), std::string("a=1=2"),
          std::string("a=\x80"), std::string("a=1\x01"), "a=" + std::string(257, 'x'), std::string(257, 'a') + "=1",
          "0" + std::string(241, 'a') + "@b=1", members(33)}) {
        INFO(text);
        CHECK(checkedTracestate(text) == "");
        CHECK(SpanContext::parse(kParent, text)->traceparent() == kParent);
    }
}

TEST_CASE("tracestate: at most 512 bytes, of whole members; large members and the last ones are dropped first") {
    std::string part(100, 'x'), large(200, 'y');
    std::string five = "a=" + part + ",b=" + part + ",c=" + part + ",d=" + part + ",e=" + part;
    CHECK(five.size() == 514);
    CHECK(checkedTracestate(five) == five.substr(0, 411));
    CHECK(checkedTracestate("l=" + large + "," + five.substr(0, 411)) == five.substr(0, 411));
    CHECK(checkedTracestate(five.substr(0, 512)) == five.substr(0, 512));
}

} // namespace span_context_test
