#pragma once
// StringRef: a reference to bytes, usually of an Arena or a literal.
//
//     StringRef key = "user/7"_sr;
//     if (key.startsWith("user/"_sr)) lookup(key.removePrefix("user/"_sr).toString());
//     StringRef kept(arena, key);                  // a copy that is valid as long as the arena
//     StringRef line = text.eat("\n"_sr);          // takes the first line off `text`
//
// A StringRef is two words, passed by value. Bytes may have any value, also zero, and are compared as unsigned. A
// StringRef does not keep its bytes alive: Standalone<StringRef> (flow/memory/standalone.h) does.

#include "flow/base/assert.h"
#include "flow/memory/arena.h"

#include <compare>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace flow {

template <class T>
class Standalone;

class StringRef {
public:
    constexpr StringRef() = default;
    constexpr StringRef(std::uint8_t const* data, int length) : data_(data), length_(length) {}
    /// Refers to the bytes of `text`, which must stay where they are.
    StringRef(std::string const& text) : StringRef(std::string_view(text)) {}
    StringRef(std::string_view text)
        : data_(reinterpret_cast<std::uint8_t const*>(text.data())), length_(static_cast<int>(text.size())) {
        FLOW_ASSERT(text.size() < (std::size_t{1} << 31), "a StringRef is below 2 GiB");
    }
    explicit StringRef(char const* text) : StringRef(std::string_view(text)) {}
    StringRef(Arena& arena, StringRef other) : StringRef(arena, other.data_, other.length_) {}
    StringRef(StringRef other, Arena& arena) : StringRef(arena, other) {}
    StringRef(Arena& arena, std::uint8_t const* bytes, int length) : length_(length) {
        if (length == 0)
            return;
        auto* copy = static_cast<std::uint8_t*>(arena.allocate(static_cast<std::size_t>(length), 1));
        std::memcpy(copy, bytes, static_cast<std::size_t>(length));
        data_ = copy;
    }

    constexpr std::uint8_t const* begin() const { return data_; }
    constexpr std::uint8_t const* end() const { return data_ + length_; }
    constexpr int size() const { return length_; }
    constexpr bool empty() const { return length_ == 0; }
    std::uint8_t operator[](int index) const {
        FLOW_CHECK(index >= 0 && index < length_, "StringRef: index out of range");
        return data_[index];
    }
    std::uint8_t back() const { return (*this)[length_ - 1]; }
    /// Removes the last byte.
    void popBack() {
        FLOW_CHECK(length_ > 0, "StringRef::popBack() of an empty text");
        --length_;
    }
    std::string_view toStringView() const {
        return {reinterpret_cast<char const*>(data_), static_cast<std::size_t>(length_)};
    }
    std::string toString() const { return std::string(toStringView()); }
    /// Returns readable ASCII: other bytes become \xhh, and a backslash becomes two.
    std::string printable() const;
    /// Returns the bytes for people: `61 (a) 2f 62 (b)`. If there are more than `limit` bytes, shows `limit` bytes and
    /// the length: `61 (a)...[20]`. If `limit` is 9 or more, a third of them come from the end: `61...62 [20 bytes]`.
    std::string toHexString(int limit = -1) const;
    /// Returns two hexadecimal digits for each byte.
    std::string toFullHexStringPlain() const;

    /// Returns `length` bytes from `start`, or as many as there are, like std::string_view: "abc"_sr.substr(2, 7) is
    /// "c". A `start` behind the end, or a negative number, ends the program.
    StringRef substr(int start, int length) const {
        FLOW_ASSERT(start >= 0 && start <= length_ && length >= 0, "StringRef::substr() out of range");
        return {data_ + start, length < length_ - start ? length : length_ - start};
    }
    StringRef substr(int start) const { return substr(start, length_); }

    bool startsWith(StringRef prefix) const { return toStringView().starts_with(prefix.toStringView()); }
    bool endsWith(StringRef suffix) const { return toStringView().ends_with(suffix.toStringView()); }
    /// Returns the text without the prefix. The text must begin with the prefix.
    StringRef removePrefix(StringRef prefix) const {
        FLOW_ASSERT(startsWith(prefix), "StringRef::removePrefix(): the text does not begin with it");
        return substr(prefix.size());
    }
    StringRef removeSuffix(StringRef suffix) const {
        FLOW_ASSERT(endsWith(suffix), "StringRef::removeSuffix(): the text does not end with it");
        return substr(0, length_ - suffix.size());
    }
    StringRef withPrefix(StringRef prefix, Arena& arena) const { return join(arena, prefix, *this); }
    StringRef withSuffix(StringRef suffix, Arena& arena) const { return join(arena, *this, suffix); }
    /// Returns a text in its own memory. Defined in flow/memory/standalone.h.
    Standalone<StringRef> withPrefix(StringRef prefix) const;
    Standalone<StringRef> withSuffix(StringRef suffix) const;

    /// Removes and returns the bytes before the first separator, and removes the separator. Without a separator, takes
    /// all bytes. `*found` becomes true if there was a separator, else false.
    StringRef eat(StringRef separator, bool* found = nullptr) {
        std::size_t at = toStringView().find(separator.toStringView());
        if (found)
            *found = at != std::string_view::npos;
        return at == std::string_view::npos ? eat() : eatTo(static_cast<int>(at), separator.size());
    }
    StringRef eat(char const* separator, bool* found = nullptr) { return eat(StringRef(separator), found); }
    /// Like eat(), for any byte of `separators`. `*found` becomes the separator, or does not change if there is none.
    StringRef eatAny(StringRef separators, std::uint8_t* found) {
        std::size_t at = toStringView().find_first_of(separators.toStringView());
        if (at == std::string_view::npos)
            return eat();
        if (found)
            *found = data_[at];
        return eatTo(static_cast<int>(at), 1);
    }
    StringRef eatAny(char const* separators, std::uint8_t* found) { return eatAny(StringRef(separators), found); }
    /// Returns the parts between bytes that are separators. A separator at the end is followed by no empty part.
    std::vector<StringRef> splitAny(StringRef separators) const {
        std::vector<StringRef> parts;
        for (StringRef rest = *this; !rest.empty();)
            parts.push_back(rest.eatAny(separators, nullptr));
        return parts;
    }
    /// Removes and returns all bytes.
    StringRef eat() {
        StringRef all = *this;
        *this = StringRef();
        return all;
    }

    int compare(StringRef other) const { return toStringView().compare(other.toStringView()); }
    int commonPrefixLength(StringRef other) const;

    /// Copies all bytes to `out`; returns the end of the copy.
    std::uint8_t* copyTo(std::uint8_t* out) const {
        if (length_ > 0)
            std::memcpy(out, data_, static_cast<std::size_t>(length_));
        return out + length_;
    }
    int expectedSize() const { return length_; }

    friend bool operator==(StringRef a, StringRef b) { return a.toStringView() == b.toStringView(); }
    /// Compares with a literal, which may contain zeros.
    template <std::size_t N>
    friend bool operator==(StringRef a, char const (&literal)[N]) {
        return a.toStringView() == std::string_view(literal, N - 1);
    }
    friend std::strong_ordering operator<=>(StringRef a, StringRef b) { return a.toStringView() <=> b.toStringView(); }

private:
    StringRef eatTo(int end, int separator) {
        StringRef before = substr(0, end);
        *this = substr(end + separator);
        return before;
    }
    static StringRef join(Arena& arena, StringRef first, StringRef second) {
        int length = first.length_ + second.length_;
        auto* bytes = static_cast<std::uint8_t*>(arena.allocate(static_cast<std::size_t>(length), 1));
        second.copyTo(first.copyTo(bytes));
        return {bytes, length};
    }

    std::uint8_t const* data_ = nullptr;
    int length_ = 0;
};

/// Makes a StringRef of a literal, which may contain zeros: `"text"_sr`.
inline StringRef operator""_sr(char const* text, std::size_t length) {
    return std::string_view(text, length);
}
/// Like "text"_sr, an older form.
template <std::size_t N>
StringRef LiteralStringRef(char const (&text)[N]) {
    return std::string_view(text, N - 1);
}

inline std::string printable(StringRef text) {
    return text.printable();
}

} // namespace flow

template <>
struct std::hash<flow::StringRef> {
    std::size_t operator()(flow::StringRef text) const { return std::hash<std::string_view>()(text.toStringView()); }
};
