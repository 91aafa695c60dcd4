"""The way of one scan: what is gathered, decided, recorded and answered."""
