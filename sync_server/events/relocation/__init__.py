"""Moving an event to another venue."""
