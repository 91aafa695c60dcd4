"""Takes and frees seats and places: the rows of `event_seats` and `event_places` that holds and tickets share."""
