"""millrace simulate: many seeds of a simulation, over the cores of a machine or a cluster."""
