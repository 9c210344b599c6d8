"""The environment of a program that is built with sanitizers."""

from __future__ import annotations

# addr2line comes with g++; llvm-symbolizer would be one more large package, of the right version.
SANITIZER = {
    "ASAN_OPTIONS": "external_symbolizer_path=/usr/bin/addr2line",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "external_symbolizer_path=/usr/bin/addr2line",
}
