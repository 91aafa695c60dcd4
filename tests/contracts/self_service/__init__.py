"""What buyers do alone: passing tickets on, cancelling, and seeing what is theirs."""
