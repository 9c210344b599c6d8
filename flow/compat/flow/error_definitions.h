// The table of errors, for those who define ERROR(name, code, description) and include it. No include guard on purpose.

#include "../../base/error_table.h"

#ifdef ERROR
#define FLOW_ERROR(name, code, description) ERROR(name, code, description)
FLOW_ERROR_TABLE(FLOW_ERROR)
#undef FLOW_ERROR
#undef ERROR
#endif
