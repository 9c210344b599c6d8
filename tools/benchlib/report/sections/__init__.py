"""The sections of the report: each makes tables and charts of what was measured, and measures nothing."""
