#include "flow/core/description.h"

#include "flow/core/future.h"
#include "flow/core/operation.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

struct DescribedOperation : Operation<DescribedOperation, Void> {
    void describe(Description& out) const { out.text = "a bell that rings"; }
};
static_assert(Describes<DescribedOperation> && !Describes<Delay>);

} // namespace

TEST_CASE("description: an operation says what it waits for") {
    RealLoop loop;
    Future<Void> bell = start<DescribedOperation>();
    std::string text;
    dumpPending(text);
    CHECK(text == "1 computation is pending\noperation DescribedOperation waits for a bell that rings\n");
}
