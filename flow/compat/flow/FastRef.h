#pragma once
// Reference counting under the old header name.

#include "../../flow.h"

using flow::addref;
using flow::delref;
using flow::makeReference;
using flow::NonCopyable;
using flow::Reference;
using flow::ReferenceCounted;
using flow::ThreadSafeReferenceCounted;
