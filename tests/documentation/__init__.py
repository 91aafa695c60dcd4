"""What pages show in blocks of code is tried."""
