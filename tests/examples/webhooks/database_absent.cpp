#include "outbox.h"

using namespace flow;

Future<Reference<Outbox>> openDatabase(std::string) {
    return unsupported_operation().withSentence("this program was built without PostgreSQL");
}
