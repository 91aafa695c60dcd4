"""The gate's folder, its identity, its settings, and which events and gates it serves."""
