"""Promises that several implementations keep alike: databases, devices, the two sides of the wire."""
