#include "net/http/headers.h"

#include "net/http/detail/syntax.h"

namespace flow::net::http {

using namespace detail;

void Headers::Iterator::read() {
    if (rest_.empty())
        return;
    std::size_t end = rest_.find('\r'), colon = rest_.find(':');
    size_ = end + 2;
    field_ = {rest_.substr(0, colon), trimmed(rest_.substr(colon + 1, end - colon - 1))};
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
    for (Field const& field : *this)
        if (isSameName(field.name, name))
            return field.value;
    return {};
}

bool Headers::hasToken(std::string_view name, std::string_view token) const {
    for (Field const& field : *this)
        if (isSameName(field.name, name) &&
            anyElement(field.value, [&](std::string_view element) { return isSameName(element, token); }))
            return true;
    return false;
}

void Headers::add(std::string_view name, std::string_view value) {
    if (!isToken(name))
        throw invalid_option_value().withSentence("Headers: the name of a field is a token (letters, digits and a few "
                                                  "signs), not \"" +
                                                  StringRef(name).printable() + "\"");
    if (!isAllOf(kValueChar, value))
        throw invalid_option_value().withSentence("Headers: the value of " + std::string(name) +
                                                  " has a control character, such as CR, LF or NUL");
    int before = lines_.size(), size = static_cast<int>(name.size() + value.size() + 4);
    Bytes old = lines_; // `name` and `value` may refer to these bytes
    // Grow in place. This fails if the block is full, or if a copy of these Headers has grown there.
    if (before != 0 && lines_.arena().extend(lines_.end(), static_cast<std::size_t>(size))) {
        lines_.contents() = StringRef(lines_.begin(), before + size);
    } else {
        Arena arena(static_cast<std::size_t>(before == 0 ? size + 100 : (before + size) * 2));
        lines_ = Bytes(makeString(before + size, arena), arena);
        old.copyTo(mutateString(lines_));
    }
    std::uint8_t* to = mutateString(lines_) + before;
    to = StringRef(name).copyTo(to);
    to = ": "_sr.copyTo(to);
    to = StringRef(value).copyTo(to);
    "\r\n"_sr.copyTo(to);
}

void Headers::set(std::string_view name, std::string_view value) {
    std::string copy(value); // `value` may refer to a field that remove() removes
    remove(name);
    add(name, copy);
}

void Headers::remove(std::string_view name) {
    if (!has(name))
        return;
    std::string kept;
    for (Iterator each = begin(); each != end(); ++each)
        if (!isSameName(each->name, name))
            kept += each.rest_.substr(0, each.size_);
    lines_ = StringRef(kept);
}

} // namespace flow::net::http
