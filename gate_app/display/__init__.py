"""What the gate's screens show; the same for browser and terminal."""
