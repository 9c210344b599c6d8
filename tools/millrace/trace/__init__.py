"""millrace trace: a trace of flow/trace/recorder.h as one page that needs no network."""
