"""Where people sit: layouts, zones, seats, the organisation's policy, and which seats are the best left."""
