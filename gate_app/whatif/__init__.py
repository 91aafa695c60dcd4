"""The simulator of the admission rules."""
