// Undoes flow/actorcompiler.h. An .actor.h file includes it last, so that the keywords do not leak out of that file.

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
