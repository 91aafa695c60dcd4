"""The images shown with an event."""
