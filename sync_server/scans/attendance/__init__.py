"""Who is inside: where the holder of each ticket was last seen, and sums of that."""
