"""What server and gate say to each other, byte for byte."""
