"""Hand scanners that are read directly: over USB as keyboards of their own, and over serial lines."""
