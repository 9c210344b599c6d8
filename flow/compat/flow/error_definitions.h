// The table of errors: define ERROR(name, code, description), then include it. No include guard on purpose.

#include "../../base/error_table.h"

#ifdef ERROR
#define FLOW_ERROR(name, code, description) ERROR(name, code, description)
FLOW_ERROR_TABLE(FLOW_ERROR)
#undef FLOW_ERROR
#undef ERROR
#endif
