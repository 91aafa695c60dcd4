"""What supervisors may do at the gate, and the PINs that prove who they are."""
