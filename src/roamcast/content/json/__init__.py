"""Events as JSON documents, and event types from JSON Schema."""
