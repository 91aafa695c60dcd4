"""Monitoring: alerts, gauges, the log of facts, and checks for references between organisations."""
