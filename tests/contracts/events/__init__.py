"""Events over HTTP, on both databases: made, changed, moved, copied, shown and laid by."""
