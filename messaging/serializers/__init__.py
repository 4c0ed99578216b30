"""What comes in and goes out of messaging: inputs are checked with these, outputs described."""
