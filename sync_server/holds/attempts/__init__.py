"""One attempt to hold a seat: the request, the evidence, the one statement, and when to try again."""
