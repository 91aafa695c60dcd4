"""Status changes of events, and what comes with them."""
