"""The house of an event as people see it: what is free, what is gone, and what has changed since they last looked."""
