"""tools/bench http: measures HTTP servers, ours and others'."""
