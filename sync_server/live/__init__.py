"""Live counters and facts of events, as streams of server-sent events."""
