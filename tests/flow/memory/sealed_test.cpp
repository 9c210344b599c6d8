#include "flow/memory/sealed.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;

TEST_CASE("sealed: a value comes back, and no damaged byte passes") {
    std::vector<std::string> value{"one", "", "three"};
    std::string sealed = seal(value);
    CHECK(unseal<std::vector<std::string>>(sealed).get() == value);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string damaged = sealed;
        damaged[i] ^= 4;
        CHECK_FALSE(unseal<std::vector<std::string>>(damaged).present());
        CHECK_FALSE(unseal<std::vector<std::string>>(sealed.substr(0, i)).present());
    }
}
