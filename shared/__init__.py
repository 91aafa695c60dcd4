"""Rules and wire formats that gate and server share, without I/O."""
