"""Starts programs that never outlive the process that started them."""
