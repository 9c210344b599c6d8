"""Modules that the tools share."""
