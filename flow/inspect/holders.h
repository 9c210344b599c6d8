#pragma once
// findHolders: the computations that hold the locks that others wait for, or that can set their promises.
//
//     findHolders(frames, codes, nodes);
//     nodes[0].waits[0].holders;            // of the lock that it waits for
//
// It reads the memory of all frames, and the stacks of fibers, for the addresses that the waits name (see Description).
// If no frame holds a lock, it reads the heap objects to which the frames point as well: a shared Permit is in one.
// It reads only memory that exists, and changes nothing. Memory that a frame does not use may still contain an address:
// so a shown holder may, seldom, be none.

#include "flow/inspect/graph.h"

namespace flow::inspect {

void findHolders(Frames const& frames, Codes& codes, std::vector<Node>& nodes);

} // namespace flow::inspect
