// The table of errors: define ERROR(name, code, description), then include it. Intentionally without an include guard.

#include "../../base/error_table.h"

#ifdef ERROR
#define FLOW_ENTRY(name, code, description) ERROR(name, code, description)
FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY
#undef ERROR
#endif
