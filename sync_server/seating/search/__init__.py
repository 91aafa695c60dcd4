"""The search for good seats; it works on plain values and needs no database."""
