#include "net/postgres/value.h"

#include "flow/base/error.h"
#include "flow/base/format.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <libpq-fe.h>

namespace flow::net::postgres {
namespace {

using namespace std::chrono;

// The numbers of types that never change: src/include/catalog/pg_type.dat of PostgreSQL.
// clang-format off
enum Type : std::uint32_t {
    Bool = 16, Bytea = 17, Name = 19, Int8 = 20, Int2 = 21, Int4 = 23, Text = 25, Json = 114, Float4 = 700,
    Float8 = 701, Bpchar = 1042, Varchar = 1043, TimestampOf = 1114, TimestampTz = 1184, Uuid = 2950, Jsonb = 3802,
};
// clang-format on

constexpr sys_days kEpoch = year(2000) / January / 1; // of PostgreSQL's times

bool isText(std::uint32_t type) {
    return type == Text || type == Varchar || type == Bpchar || type == Name || type == Json;
}

/// Reads a number in the order of the network.
template <class T>
T fromNetwork(Field const& field, std::size_t at = 0) {
    std::string_view bytes = field.bytes();
    if (bytes.size() < at + sizeof(T))
        field.fail("more bytes");
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<decltype(value)>(value << 8 | static_cast<unsigned char>(bytes[at + i]));
    return static_cast<T>(value);
}
template <class T>
void appendNumber(std::string& out, T value) {
    for (int shift = 8 * (sizeof(T) - 1); shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift));
}

template <class T>
T parse(Field const& field) {
    std::string_view text = field.bytes();
    T value{};
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        field.fail(std::is_integral_v<T> ? "an integer" : "a number");
    return value;
}

/// The style ISO, which is the server's default: 2026-11-30 11:52:30.25+02, +05:30 or without a zone.
Timestamp parseTimestamp(Field const& field) {
    std::string text(field.bytes());
    if (text == "infinity" || text == "-infinity")
        return text[0] == '-' ? Timestamp::min() : Timestamp::max();
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, zh = 0, zm = 0, zs = 0;
    double s = 0;
    char sign = '+';
    int found =
        std::sscanf(text.c_str(), "%d-%d-%d %d:%d:%lf%c%d:%d:%d", &y, &mo, &d, &h, &mi, &s, &sign, &zh, &zm, &zs);
    if (found < 6 || found == 7 || (sign != '+' && sign != '-') || text.ends_with("BC"))
        field.fail("a timestamptz in the style ISO");
    seconds zone = hours(zh) + minutes(zm) + seconds(zs);
    return Timestamp(sys_days(year(y) / mo / d) + hours(h) + minutes(mi) + microseconds(std::llround(s * 1e6)) -
                     (sign == '-' ? -zone : zone));
}

/// Appends a value for a parameter of this type. Each function returns true if its format is binary.
struct Encoder {
    std::uint32_t type;
    std::size_t number;
    std::string& out;

    [[noreturn]] void fail(std::string const& what) const {
        throw client_invalid_operation().withSentence(format("parameter %zu %s", number, what.c_str()));
    }
    bool asText(std::string const& value) {
        if (value.find('\0') != value.npos)
            fail("is a text with a zero byte");
        out.append(value.c_str(), value.size() + 1);
        return false;
    }

    bool operator()(std::monostate) { return true; }
    bool operator()(bool value) {
        if (type != Bool)
            return asText(value ? "true" : "false");
        out.push_back(value);
        return true;
    }
    template <class T>
    bool integer(std::int64_t value) {
        if (value != static_cast<T>(value))
            fail(format("is %lld, which does not fit an int%zu", static_cast<long long>(value), sizeof(T)));
        appendNumber(out, static_cast<T>(value));
        return true;
    }
    bool operator()(std::int64_t value) {
        if (type == Int8)
            return integer<std::int64_t>(value);
        if (type == Int4)
            return integer<std::int32_t>(value);
        if (type == Int2)
            return integer<std::int16_t>(value);
        if (type == Float4 || type == Float8)
            return (*this)(static_cast<double>(value));
        return asText(std::to_string(value));
    }
    bool operator()(double value) {
        if (type == Float4) {
            appendNumber(out, std::bit_cast<std::int32_t>(static_cast<float>(value)));
        } else if (type == Float8) {
            appendNumber(out, std::bit_cast<std::int64_t>(value));
        } else {
            char text[64];
            return asText({text, std::to_chars(text, text + sizeof text, value).ptr});
        }
        return true;
    }
    bool operator()(std::string const& value) {
        if (!isText(type))
            return asText(value);
        out += value;
        return true;
    }
    bool operator()(Bytes const& value) {
        out.append(reinterpret_cast<char const*>(value.begin()), static_cast<std::size_t>(value.size()));
        return true;
    }
    bool operator()(Timestamp value) {
        if (type != TimestampTz && type != TimestampOf)
            fail("is a Timestamp; cast it in the query, as in $1::timestamptz");
        bool isInfinite = value == Timestamp::max() || value == Timestamp::min();
        auto micros = isInfinite ? value.time_since_epoch() : value - Timestamp(kEpoch);
        appendNumber(out, micros.count());
        return true;
    }
    bool operator()(UID value) {
        if (type != Uuid)
            fail("is a UID; cast it in the query, as in $1::uuid");
        appendNumber(out, value.first());
        appendNumber(out, value.second());
        return true;
    }
};

} // namespace

bool Field::isNull() const {
    return PQgetisnull(result_, row_, column_) != 0;
}
std::string_view Field::bytes() const {
    return {PQgetvalue(result_, row_, column_), static_cast<std::size_t>(PQgetlength(result_, row_, column_))};
}
bool Field::isBinary() const {
    return PQfformat(result_, column_) == 1;
}
std::uint32_t Field::type() const {
    return PQftype(result_, column_);
}
void Field::fail(std::string_view wanted) const {
    std::string found = isNull()     ? "NULL"
                        : isBinary() ? format("of the type with the OID %u", unsigned(type()))
                                     : format("\"%.100s\"", std::string(bytes()).c_str());
    throw client_invalid_operation().withSentence(format("column %d (%s) is %s; the row type wants %s", column_ + 1,
                                                         PQfname(result_, column_), found.c_str(),
                                                         std::string(wanted).c_str()));
}

namespace internals {

bool isReadInBinary(std::uint32_t type) {
    constexpr Type kTypes[] = {Bool, Bytea, Int8, Int2, Int4, Float4, Float8, TimestampTz, Uuid, Jsonb};
    return isText(type) || std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool readBool(Field const& field) {
    if (field.type() != Bool || field.bytes().size() != 1)
        field.fail("a bool");
    return field.bytes()[0] == 't' || field.bytes()[0] == 1;
}

std::int64_t readInteger(Field const& field, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (!field.isBinary())
        value = parse<std::int64_t>(field);
    else if (field.type() == Int8)
        value = fromNetwork<std::int64_t>(field);
    else if (field.type() == Int4)
        value = fromNetwork<std::int32_t>(field);
    else if (field.type() == Int2)
        value = fromNetwork<std::int16_t>(field);
    else
        field.fail("an integer");
    if (value < least || value > most)
        field.fail(format("an integer from %lld to %lld", static_cast<long long>(least), static_cast<long long>(most)));
    return value;
}

double readFloat(Field const& field) {
    if (!field.isBinary())
        return parse<double>(field);
    if (field.type() == Float8)
        return std::bit_cast<double>(fromNetwork<std::int64_t>(field));
    if (field.type() != Float4)
        field.fail("a number");
    return std::bit_cast<float>(fromNetwork<std::int32_t>(field));
}

std::string readText(Field const& field) {
    if (field.isBinary() && field.type() != Jsonb && !isText(field.type()))
        field.fail("a text");
    bool hasVersion = field.isBinary() && field.type() == Jsonb;
    return std::string(field.bytes().substr(hasVersion ? 1 : 0));
}

Bytes readBytes(Field const& field) {
    if (field.type() != Bytea)
        field.fail("a bytea");
    std::string_view bytes = field.bytes();
    if (field.isBinary())
        return StringRef(bytes);
    std::string decoded; // of \x and hexadecimal digits
    for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
        unsigned char byte = 0;
        std::from_chars(bytes.data() + i, bytes.data() + i + 2, byte, 16);
        decoded.push_back(static_cast<char>(byte));
    }
    return StringRef(decoded);
}

Timestamp readTimestamp(Field const& field) {
    if (!field.isBinary())
        return parseTimestamp(field);
    if (field.type() != TimestampTz)
        field.fail("a timestamptz");
    auto micros = fromNetwork<std::int64_t>(field);
    if (micros == std::numeric_limits<std::int64_t>::max() || micros == std::numeric_limits<std::int64_t>::min())
        return Timestamp(microseconds(micros)); // infinity
    return Timestamp(kEpoch) + microseconds(micros);
}

UID readUid(Field const& field) {
    if (field.type() != Uuid)
        field.fail("a uuid");
    if (field.isBinary())
        return {fromNetwork<std::uint64_t>(field), fromNetwork<std::uint64_t>(field, 8)};
    std::string digits(field.bytes());
    std::erase(digits, '-');
    return UID::fromString(digits);
}

Error wrongColumns(std::size_t given, std::size_t wanted) {
    return client_invalid_operation().withSentence(
        format("the query gives %zu columns; the row type has %zu", given, wanted));
}

} // namespace internals

bool Parameter::encode(std::uint32_t type, std::size_t number, std::string& out) const {
    return std::visit(Encoder{type, number, out}, value_);
}

std::size_t Result::rows() const {
    return static_cast<std::size_t>(PQntuples(result_.get()));
}
std::size_t Result::columns() const {
    return static_cast<std::size_t>(PQnfields(result_.get()));
}
std::uint64_t Result::affected() const {
    return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10);
}
std::string_view Result::command() const {
    return PQcmdStatus(result_.get());
}
void Result::Clear::operator()(pg_result* result) const {
    PQclear(result);
}

} // namespace flow::net::postgres
