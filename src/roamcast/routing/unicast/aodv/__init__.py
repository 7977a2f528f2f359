"""AODV (RFC 3561), with the rules of ns-2 where they differ as parameters."""
