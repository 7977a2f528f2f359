"""WHAT is said: events, filters and the relations between them."""
