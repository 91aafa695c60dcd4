"""The rows this gate holds for each event: one file per event, and the roster of all of them."""
