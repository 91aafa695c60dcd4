"""What gate and server must agree on, bit for bit: pure domain and wire format, without I/O."""
