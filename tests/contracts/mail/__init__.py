"""Mail over SMTP, on both databases."""
