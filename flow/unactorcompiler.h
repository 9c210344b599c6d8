// Undoes flow/actorcompiler.h; the last include of an .actor.h file, so that its keywords do not leak.

#undef ACTOR
#undef SWIFT_ACTOR
#undef UNCANCELLABLE
#undef DESCR
#undef state
#undef loop
#undef choose
#undef when
