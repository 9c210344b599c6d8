#pragma once
// Values of PostgreSQL: the parameters of a query, and the fields and rows of its result.
//
//     struct Person { std::int64_t id; std::string name; std::optional<postgres::Timestamp> born; };   // a row
//     using Pair = std::tuple<int, double>;                                                            // a row
//     int                                                                      // a row with one column
//
//     C++                             columns that it reads         as a parameter
//     bool                            bool                          of any type, as true or false
//     integers                        int2, int4, int8, numeric     of any type, as a number
//     float, double                   float4, float8, numeric       of any type, as a number
//     std::string                     text, json and all others but those of this table; a parameter of any type
//     Bytes                           bytea                         in the binary format of the parameter's type
//     Timestamp                       timestamptz                   timestamptz, timestamp
//     UID                             uuid                          uuid
//     std::optional<T>                NULL, or T                    NULL, or T
//
// The members of a struct are the columns in their order; their names do not matter. If a column does not fit its C++
// type (another type, a number out of range, NULL without std::optional), the row fails with client_invalid_operation
// and a sentence with the column. A number that does not fit the type of its parameter fails in the same way, before
// the query is sent. Text is UTF-8. A Timestamp of infinity is Timestamp::max(), of -infinity Timestamp::min().
//
// A program adds a type with a specialisation:
//
//     template <> struct postgres::TypeOf<Money> {
//         static Money read(postgres::Field const& field) { return Money::parse(field.get<std::string>()); }
//         static postgres::Parameter write(Money const& money) { return money.toString(); }
//     };

#include "flow/base/uid.h"
#include "flow/memory/members.h"
#include "flow/memory/standalone.h"
#include "flow/memory/string_ref.h"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

struct pg_result; // a type of libpq; programs do not need its headers

namespace flow::net {
using Bytes = Standalone<StringRef>;
}

namespace flow::net::postgres {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// How a T is read from a column and written as a parameter. Specialise it for your own types.
template <class T>
struct TypeOf;

/// A value of a result. It refers to the Result.
class Field {
public:
    Field(pg_result const* result, int row, int column) : result_(result), row_(row), column_(column) {}

    bool isNull() const;
    /// Returns the bytes as the server has sent them: in the binary format, or as a text.
    std::string_view bytes() const;
    bool isBinary() const;
    /// Returns the OID of the column's type.
    std::uint32_t type() const;

    /// Fails for NULL, unless T is a std::optional.
    template <class T>
    T get() const;
    /// Throws the error of a value that is no `wanted`.
    [[noreturn]] void fail(std::string_view wanted) const;

private:
    pg_result const* result_;
    int row_, column_;
};

/// A value that is sent with a query.
class Parameter {
public:
    Parameter(std::nullptr_t) {}
    Parameter(std::nullopt_t) {}
    template <class T>
        requires requires(T const& value) { TypeOf<T>::write(value); }
    Parameter(T const& value) : Parameter(TypeOf<T>::write(value)) {}
    Parameter(char const* text) : value_(std::string(text)) {}
    Parameter(std::string_view text) : value_(std::string(text)) {}
    Parameter(std::string text) : value_(std::move(text)) {}
    Parameter(bool value) : value_(value) {}
    Parameter(std::int64_t value) : value_(value) {}
    Parameter(double value) : value_(value) {}
    Parameter(Bytes value) : value_(std::move(value)) {}
    Parameter(Timestamp value) : value_(value) {}
    Parameter(UID value) : value_(value) {}

    bool isNull() const { return std::holds_alternative<std::monostate>(value_); }
    /// Appends the value for a parameter of this type. Returns true if its format is binary; a text ends with a zero
    /// byte. `number` is the number of the parameter, for errors.
    bool encode(std::uint32_t type, std::size_t number, std::string& out) const;

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Timestamp, UID> value_;
};

namespace internals {
bool readBool(Field const& field);
std::int64_t readInteger(Field const& field, std::int64_t least, std::int64_t most);
double readFloat(Field const& field);
std::string readText(Field const& field);
Bytes readBytes(Field const& field);
Timestamp readTimestamp(Field const& field);
UID readUid(Field const& field);
/// True if all that this header reads from such a column can be read from its binary format.
bool isReadInBinary(std::uint32_t type);
Error wrongColumns(std::size_t given, std::size_t wanted);

template <class T>
struct Optional {};
template <class T>
struct Optional<std::optional<T>> {
    using Value = T;
};
template <class T>
struct Tuple : std::false_type {};
template <class... Types>
struct Tuple<std::tuple<Types...>> : std::true_type {};
} // namespace internals

template <class T>
concept Readable = requires(Field const& field) {
    { TypeOf<T>::read(field) } -> std::convertible_to<T>;
};

template <>
struct TypeOf<bool> {
    static bool read(Field const& field) { return internals::readBool(field); }
};
template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
struct TypeOf<T> {
    using Limits = std::numeric_limits<T>;
    static constexpr std::uint64_t kInt64 = std::numeric_limits<std::int64_t>::max();
    static constexpr auto kMost = static_cast<std::int64_t>(std::min<std::uint64_t>(Limits::max(), kInt64));
    static T read(Field const& field) {
        return static_cast<T>(internals::readInteger(field, static_cast<std::int64_t>(Limits::min()), kMost));
    }
    static Parameter write(T value) {
        if (value > T(0) && static_cast<std::uint64_t>(value) > kInt64)
            return std::to_string(value); // a numeric can have it
        return static_cast<std::int64_t>(value);
    }
};
template <std::floating_point T>
struct TypeOf<T> {
    static T read(Field const& field) { return static_cast<T>(internals::readFloat(field)); }
    static Parameter write(T value) { return static_cast<double>(value); }
};
template <>
struct TypeOf<std::string> {
    static std::string read(Field const& field) { return internals::readText(field); }
};
template <>
struct TypeOf<Bytes> {
    static Bytes read(Field const& field) { return internals::readBytes(field); }
};
template <>
struct TypeOf<Timestamp> {
    static Timestamp read(Field const& field) { return internals::readTimestamp(field); }
};
template <>
struct TypeOf<UID> {
    static UID read(Field const& field) { return internals::readUid(field); }
};
template <class T>
    requires requires { typename internals::Optional<T>::Value; }
struct TypeOf<T> {
    using Value = typename internals::Optional<T>::Value;
    static T read(Field const& field) { return field.isNull() ? T() : T(TypeOf<Value>::read(field)); }
    static Parameter write(T const& value) { return value ? Parameter(*value) : Parameter(nullptr); }
};

template <class T>
T Field::get() const {
    if constexpr (!requires { typename internals::Optional<T>::Value; })
        if (isNull())
            fail("a value: use std::optional");
    return TypeOf<T>::read(*this);
}

/// What the server has answered to a query. Owns its memory.
class Result {
public:
    Result() = default;
    explicit Result(pg_result* owned) : result_(owned) {}

    std::size_t rows() const;
    std::size_t columns() const;
    Field field(std::size_t row, std::size_t column) const {
        return {result_.get(), static_cast<int>(row), static_cast<int>(column)};
    }
    /// Returns the number of rows that INSERT, UPDATE, DELETE, MERGE, SELECT or COPY has counted; 0 for others.
    std::uint64_t affected() const;
    /// Returns what the server says that it has done, such as "INSERT 0 1".
    std::string_view command() const;
    pg_result* get() const { return result_.get(); }

    /// Returns the number of columns of a Row.
    template <class Row>
    static std::size_t columnsOf() {
        std::size_t count = 1;
        if constexpr (internals::Tuple<Row>::value) {
            count = std::tuple_size_v<Row>;
        } else if constexpr (!Readable<Row>) {
            Row empty{};
            forMembers(empty, [&](auto&... members) { count = sizeof...(members); });
        }
        return count;
    }
    template <class Row>
    Row row(std::size_t row) const {
        if constexpr (Readable<Row>) {
            return field(row, 0).template get<Row>();
        } else if constexpr (internals::Tuple<Row>::value) {
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
                return Row{field(row, I).template get<std::tuple_element_t<I, Row>>()...};
            }(std::make_index_sequence<std::tuple_size_v<Row>>());
        } else {
            static_assert(std::is_aggregate_v<Row>, "a row is a std::tuple, a struct without constructors, or a type "
                                                    "that postgres::TypeOf reads");
            Row made{};
            forMembers(made, [&](auto&... members) {
                std::size_t column = 0;
                ((members = field(row, column++).template get<std::remove_reference_t<decltype(members)>>()), ...);
            });
            return made;
        }
    }

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    std::unique_ptr<pg_result, Clear> result_;
};

} // namespace flow::net::postgres
