"""Passwords, passkeys, second factors and cookies: who is at the other end."""
