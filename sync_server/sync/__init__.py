"""What gates ask of the server under /sync/v1: enrolment, hello, snapshots, changes, journals."""
