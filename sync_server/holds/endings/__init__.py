"""How holds end: bought, expired, cancelled, or because their event gets or loses a day."""
