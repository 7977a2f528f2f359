"""Keys, identities and the authenticated frame in which every datagram travels."""
