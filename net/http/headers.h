#pragma once
// Headers: the header fields of a message, in their order.
//
//     Headers headers = {{"Content-Type", "text/plain"}, {"Cache-Control", "no-store"}};
//     headers.set("Cache-Control", "max-age=60");
//     headers.get("content-type");                     // "text/plain": names are compared without case
//     for (Headers::Field field : headers)
//         print(field.name, field.value);
//
// Headers hold the text that is sent: "Name: value\r\n" for each field. The fields of a received message refer to the
// bytes that have arrived. A copy shares the memory until the copy or the original is changed. A Field refers to the
// text: it is valid until the Headers change or are destroyed.
//
// add() and set() throw invalid_option_value for a name that is no token, and for a value with CR, LF, NUL or another
// control character: a value can never add a field or a message.

#include "net/connection.h"

#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace flow::net::http {

class Headers {
public:
    struct Field {
        std::string_view name, value; // the value without the blanks around it
    };
    class Iterator;

    Headers() = default;
    Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
        for (auto const& [name, value] : fields)
            add(name, value);
    }
    /// Makes Headers of valid lines, each with a name, a colon, a value and "\r\n". Does not check them.
    static Headers ofCheckedLines(Bytes lines) {
        Headers headers;
        headers.lines_ = std::move(lines);
        return headers;
    }

    /// Returns the first value of this name.
    std::optional<std::string_view> find(std::string_view name) const;
    std::string_view get(std::string_view name, std::string_view other = "") const {
        return find(name).value_or(other);
    }
    bool has(std::string_view name) const { return find(name).has_value(); }
    /// True if a field of this name has the token in its list, without case: hasToken("Connection", "upgrade") is true
    /// for "Connection: keep-alive, Upgrade".
    bool hasToken(std::string_view name, std::string_view token) const;

    /// Adds a field at the end, even if there is a field of this name.
    void add(std::string_view name, std::string_view value);
    /// Removes all fields of this name, and adds one at the end.
    void set(std::string_view name, std::string_view value);
    void remove(std::string_view name);

    Iterator begin() const;
    Iterator end() const;
    bool empty() const { return lines_.empty(); }
    std::string_view text() const { return lines_.toStringView(); }

private:
    Bytes lines_;
};

class Headers::Iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Field;
    using difference_type = std::ptrdiff_t;
    using pointer = Field const*;
    using reference = Field const&;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) { read(); }

    Field const& operator*() const { return field_; }
    Field const* operator->() const { return &field_; }
    Iterator& operator++() {
        rest_.remove_prefix(size_);
        read();
        return *this;
    }
    Iterator operator++(int) {
        Iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(Iterator const& a, Iterator const& b) { return a.rest_.size() == b.rest_.size(); }

private:
    friend class Headers;
    void read();

    std::string_view rest_; // from this field on
    std::size_t size_ = 0;  // bytes of this field, with its "\r\n"
    Field field_;
};

inline Headers::Iterator Headers::begin() const {
    return Iterator(text());
}
inline Headers::Iterator Headers::end() const {
    return Iterator();
}

} // namespace flow::net::http
