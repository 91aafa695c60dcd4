"""Who is inside and who came: what of each ticket's movements counts, and sums of that."""
