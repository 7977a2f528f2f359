"""Commands that write, check and simulate scenarios."""
