// Undoes flow/actorcompiler.h; the last include of an .actor.h file, so that its keywords do not leak.

#if defined(ACTOR) && defined(__clang__)
#pragma clang diagnostic pop
#endif

#undef ACTOR
#undef SWIFT_ACTOR
#undef UNCANCELLABLE
#undef flow_allow_discard
#undef DESCR
#undef state
#undef loop
#undef choose
#undef when
#undef THIS
#undef THIS_ADDR
