"""Short reads over many events: what is active, what a dashboard lists, what looks wrong."""
