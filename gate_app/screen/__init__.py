"""The gate's screens in a browser, for the guest at the kiosk and for the staff beside it."""
