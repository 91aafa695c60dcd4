"""Public listings: the feed of all organisers' events, search, cities, and an event's page."""
