"""Facts: recorded in the transaction of the change they describe, and delivered after its commit."""
