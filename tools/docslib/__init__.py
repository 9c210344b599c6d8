"""The documentation site: tools/docs."""
