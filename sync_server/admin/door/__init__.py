"""The pages of the door: devices, scans, conflicts, alerts, and who is inside."""
