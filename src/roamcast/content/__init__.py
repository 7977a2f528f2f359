"""Events, event types, filters and the relations between filters."""
