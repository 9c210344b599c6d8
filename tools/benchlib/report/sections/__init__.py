"""The sections of the report: each makes tables and charts from the measurements."""
