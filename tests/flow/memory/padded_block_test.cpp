#include "flow/memory/detail/padded_block.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace {
using namespace flow;
using memory::PaddedBlock;

TEST_CASE("a padded block is given back as the block that it is in") {
    test::Balance balance;
    for (std::size_t padding : {16, 32, 48}) {
        std::size_t const bytes = 192;
        void* block = memory::allocate(bytes);
        void* place = PaddedBlock::make(block, padding, memory::sizeClassOf(bytes));
        CHECK(place == static_cast<char*>(block) + padding);
        CHECK(PaddedBlock::of(place)->block() == block);
        memory::release(place, memory::kPaddedClass);
    }
    CHECK(memory::statistics(memory::kPaddedClass).live() == 0);
}

} // namespace
