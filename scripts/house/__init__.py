"""The whole house on one machine: a server, a gate and a demo, for looking at and for proving that it works."""
