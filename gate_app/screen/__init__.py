"""The gate's screens, in a browser and in a terminal."""
