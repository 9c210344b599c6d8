#pragma once
// findHolders: which computations hold the locks that others wait for, or can set their promises.
//
//     findHolders(frames, codes, nodes);
//     nodes[0].waits[0].holders;            // of the lock that it waits for
//
// It reads the memory of all frames, and the stacks of fibers, for the addresses that the waits name (see Description).
// Where no frame holds a lock, the heap objects to which the frames point are read as well: a FlowMutex::Lock stands in
// one. Reads only what exists, and changes nothing. Memory that a frame does not use may still have an address: so what
// is shown as a holder may, seldom, be none.

#include "flow/inspect/graph.h"

namespace flow::inspect {

void findHolders(Frames const& frames, Codes& codes, std::vector<Node>& nodes);

} // namespace flow::inspect
