"""Old lines of the audit log in sealed files, so that the table stays small and the chain stays provable."""
