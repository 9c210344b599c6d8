#pragma once
// Declarations of the classes of flow/flow.h, for headers that only need the names.
//
//     #include "flow/forward.h" // in place of: template <class T> class Future; class Void; class StringRef;
//     Future<Void> write(StringRef text);
//
// The classes are in namespace flow, so `class Void;` outside of it declares another class. actorc, or millrace port
// --fix in other files, replaces such lines by this header. The names of fdbrpc/fdbrpc.h are in fdbrpc/forward.h.

namespace flow {

struct Never;
struct Void;
class ActorCollection;
class Arena;
class ArenaObjectReader;
class AsyncTrigger;
class BinaryReader;
class BinaryWriter;
class DeterministicRandom;
class Error;
class FlowLock;
class FlowMutex;
class ObjectReader;
class ObjectWriter;
class ProtocolVersion;
class StringRef;
class TraceEvent;
class UID;
class UnitTestParameters;
enum class TaskPriority : int;
template <class T>
class AsyncVar;
template <class T>
class Callback;
template <class T>
class ErrorOr;
template <class T>
class Future;
template <class T>
class FutureStream;
template <class T>
class Optional;
template <class T>
class Promise;
template <class T>
class PromiseStream;
template <class T>
class Reference;
template <class T>
class ReferenceCounted;
template <class T>
class SingleCallback;
template <class T>
class Standalone;
template <class T>
class StrictFuture;
template <class T>
class ThreadSafeReferenceCounted;
template <class T>
class VectorRef;
using IRandom = DeterministicRandom;

} // namespace flow

using flow::ActorCollection;
using flow::Arena;
using flow::ArenaObjectReader;
using flow::AsyncTrigger;
using flow::AsyncVar;
using flow::BinaryReader;
using flow::BinaryWriter;
using flow::Callback;
using flow::DeterministicRandom;
using flow::Error;
using flow::ErrorOr;
using flow::FlowLock;
using flow::FlowMutex;
using flow::Future;
using flow::FutureStream;
using flow::IRandom;
using flow::Never;
using flow::ObjectReader;
using flow::ObjectWriter;
using flow::Optional;
using flow::Promise;
using flow::PromiseStream;
using flow::ProtocolVersion;
using flow::Reference;
using flow::ReferenceCounted;
using flow::SingleCallback;
using flow::Standalone;
using flow::StrictFuture;
using flow::StringRef;
using flow::TaskPriority;
using flow::ThreadSafeReferenceCounted;
using flow::TraceEvent;
using flow::UID;
using flow::UnitTestParameters;
using flow::VectorRef;
using flow::Void;
