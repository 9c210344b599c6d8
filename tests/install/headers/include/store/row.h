#pragma once

namespace store {

struct Row {
    int price = 7;
};

} // namespace store
