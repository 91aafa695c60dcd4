"""Events over HTTP, on both databases: creating, changing, moving, copying and archiving."""
