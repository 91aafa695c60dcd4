"""What hangs on the pins of a small computer: lamps, a buzzer, and a barrier with its contacts."""
