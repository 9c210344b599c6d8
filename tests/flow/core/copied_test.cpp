#include "flow/core/detail/copied.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace flow;
using flow::detail::kCopied;

namespace {

struct Tree : std::vector<Tree> {};
struct LooksLikeContainer {
    using allocator_type = std::allocator<int>;
};
using Numbers = std::vector<std::unique_ptr<int>>;

} // namespace

TEST_CASE("copied: not a container of what cannot be copied, nor what holds such a container") {
    static_assert(std::is_copy_constructible_v<Numbers> && !kCopied<Numbers>);
    static_assert(!kCopied<std::map<int, std::unique_ptr<int>>> && !kCopied<std::vector<Numbers>>);
    static_assert(!kCopied<std::optional<Numbers>> && !kCopied<Optional<Numbers>> && !kCopied<ErrorOr<Numbers>>);
    static_assert(!kCopied<std::pair<int, Numbers>> && !kCopied<std::tuple<int, Numbers>>);
    static_assert(!kCopied<std::variant<int, Numbers>> && !kCopied<std::array<Numbers, 2>>);
    static_assert(!kCopied<std::vector<std::optional<Numbers>>>);
}

TEST_CASE("copied: all that can be copied, and no type is looked into that only looks like a container") {
    static_assert(kCopied<std::vector<std::shared_ptr<std::unique_ptr<int>>>> && kCopied<std::map<int, std::string>>);
    static_assert(kCopied<std::variant<std::optional<int>, std::pair<Optional<int>, std::tuple<int&, std::string>>>>);
    static_assert(kCopied<Tree> && kCopied<LooksLikeContainer> && !kCopied<std::stringstream>);
}
