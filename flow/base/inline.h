#pragma once
// FLOW_INLINE: a function that must become part of its caller, at every optimisation level. For the few steps between
// a co_await and the queue in which the coroutine parks, where a call would cost time and bytes in the frame.

#define FLOW_INLINE [[gnu::always_inline]] inline
