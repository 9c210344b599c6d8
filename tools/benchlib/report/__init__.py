"""tools/bench report: everything that was measured, as one HTML page and as pictures."""
