"""The program at the door: it decides with or without a network, and never forgets a presentation."""
