"""Files orders that rest: what they come to in sums, and their words, so that no page reads every order of an event."""
