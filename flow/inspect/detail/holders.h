#pragma once
// findHolders: finds the computations that hold the awaited locks, or can set the awaited promises.
//
//     findHolders(frames, codes, nodes);
//     nodes[0].waits[0].holders;            // the holders of the lock that nodes[0] waits for
//
// findHolders() searches all frames, and the stacks of fibers, for the addresses that the waits name (see Description).
// If no frame holds a lock, it also searches the heap objects to which the frames point: one may contain the Permit. It
// only reads mapped memory. In rare cases, an old address in unused memory adds a wrong holder.

#include "flow/inspect/detail/graph.h"

namespace flow::inspect {

void findHolders(Frames const& frames, Codes& codes, std::vector<Node>& nodes);

} // namespace flow::inspect
