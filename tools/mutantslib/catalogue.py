"""All mutants. Each is a change that a programmer in a hurry may make, and that a program could notice."""

from __future__ import annotations

from mutantslib import actorc, flow_core, flow_lib, flow_loop, flow_tools, net_messages, net_sockets

MUTANTS = (
    *flow_core.MUTANTS,
    *flow_loop.MUTANTS,
    *flow_lib.MUTANTS,
    *flow_tools.MUTANTS,
    *net_sockets.MUTANTS,
    *net_messages.MUTANTS,
    *actorc.MUTANTS,
)
