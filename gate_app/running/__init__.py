"""The running gate: its loop, its lamps and barrier, and what watches it."""
