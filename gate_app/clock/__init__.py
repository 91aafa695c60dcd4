"""Times that staff can trust and read."""
