"""What visitors find of all houses: the feed, the search, the cities, an event's page."""
