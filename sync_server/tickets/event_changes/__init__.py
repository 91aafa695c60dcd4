"""What becomes of tickets when their event is cancelled, or gets or loses a day."""
