"""What the gate's screens show, in words and shapes; the same for browser and terminal."""
