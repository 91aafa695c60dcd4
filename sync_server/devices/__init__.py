"""Devices, the gate machines: enrolment, assignments, reports and revocation."""
