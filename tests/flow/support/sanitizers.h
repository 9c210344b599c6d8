#pragma once
// MILLRACE_UNDER_TSAN: 1 in code that ThreadSanitizer watches, which it makes some ten times slower.
// MILLRACE_UNDER_ASAN: the same of AddressSanitizer.

#if defined(__has_feature)
#define MILLRACE_UNDER_TSAN __has_feature(thread_sanitizer)
#define MILLRACE_UNDER_ASAN __has_feature(address_sanitizer)
#else
#define MILLRACE_UNDER_TSAN 0
#define MILLRACE_UNDER_ASAN 0
#endif
