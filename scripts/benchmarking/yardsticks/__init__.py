"""The yardsticks: the least that any product must do for the same work."""
