"""The journal of one gate: chained entries, their checks, and the movements read from them."""
