"""Counters of an event as a stream for people who watch it."""
