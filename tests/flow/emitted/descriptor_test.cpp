#include "flow/emitted/descriptor.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>

using namespace flow;

namespace elsewhere {

// What actorc writes for `DESCR struct Sample { ... };`.
struct Sample {
    double latency;
    std::int64_t bytes;
};
struct SampleDescriptor__ : StructDescriptor<Sample, "Sample"> {
    struct latencyDescriptor : FieldDescriptor<&Sample::latency, "latency", "double", "seconds"> {};
    struct bytesDescriptor : FieldDescriptor<&Sample::bytes, "bytes", "std::int64_t", ""> {};
    using fields = std::tuple<latencyDescriptor, bytesDescriptor>;
    using field_indexes = std::make_index_sequence<2>;
};
SampleDescriptor__ descriptor__(Sample*);

} // namespace elsewhere

using elsewhere::Sample;

TEST_CASE("descriptor: names, types and comments") {
    using D = Descriptor<Sample>;
    static_assert(std::is_same_v<D::type, Sample>);
    static_assert(D::typeName() == "Sample");
    static_assert(std::tuple_size_v<D::fields> == 2);
    static_assert(std::is_same_v<D::field_indexes, std::index_sequence<0, 1>>);
    static_assert(std::is_same_v<D::latencyDescriptor::type, double>);
    CHECK(D::latencyDescriptor::name() == "latency");
    CHECK(D::latencyDescriptor::typeName() == "double");
    CHECK(D::latencyDescriptor::comment() == "seconds");
    CHECK(std::tuple_element_t<1, D::fields>::typeName() == "std::int64_t");
    CHECK(std::tuple_element_t<1, D::fields>::comment().empty());
}

TEST_CASE("descriptor: accessors refer to the field, and keep const") {
    Sample sample{1.5, 7};
    Descriptor<Sample>::bytesDescriptor::get(sample) = 8;
    CHECK(sample.bytes == 8);
    Sample const& unchanged = sample;
    auto& bytes = Descriptor<Sample>::bytesDescriptor::get(unchanged);
    static_assert(std::is_same_v<decltype(bytes), std::int64_t const&>);
    CHECK(&bytes == &sample.bytes);
}

TEST_CASE("descriptor: forEachField visits every field in order") {
    Sample sample{1.5, 7};
    std::string seen;
    forEachField(sample, [&](auto field, auto& value) {
        value += 1;
        seen += std::string(field.name()) + " ";
    });
    CHECK(seen == "latency bytes ");
    CHECK(sample.latency == 2.5);
    double sum = 0;
    forEachField(static_cast<Sample const&>(sample), [&](auto, auto& value) {
        static_assert(std::is_const_v<std::remove_reference_t<decltype(value)>>);
        sum += static_cast<double>(value);
    });
    CHECK(sum == 10.5);
}

namespace elsewhere {
struct Described {};
UnknownDescriptor descriptor__(Described*);
} // namespace elsewhere

TEST_CASE("descriptor: in an editor a described struct has no fields") {
    static_assert(std::tuple_size_v<Descriptor<elsewhere::Described>::fields> == 0);
    elsewhere::Described object;
    forEachField(object, [](auto, auto&) { FAIL("there is no field"); });
}
