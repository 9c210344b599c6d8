#pragma once
// MILLRACE_UNDER_TSAN: 1 in code that ThreadSanitizer watches, which it makes some ten times slower.

#if defined(__has_feature)
#define MILLRACE_UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define MILLRACE_UNDER_TSAN 0
#endif
