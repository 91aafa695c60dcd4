"""Public seat maps: which seats of an event are free, and what has changed since a reader last asked."""
