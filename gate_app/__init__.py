"""The gate program: it admits guests online or offline, and records every scan."""
