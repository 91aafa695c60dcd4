"""Houses and their entrances."""
