"""DSR (RFC 4728), with the rules of ns-2 where they differ as parameters."""
