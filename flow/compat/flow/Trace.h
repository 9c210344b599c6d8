#pragma once
// Trace events under the old header name.

#include "../../flow.h"

using flow::SevDebug;
using flow::Severity;
using flow::SevError;
using flow::SevInfo;
using flow::SevWarn;
using flow::SevWarnAlways;
using flow::Traceable;
using flow::TraceEvent;
