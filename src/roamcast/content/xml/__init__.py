"""Events as XML documents, and event types from XML Schema."""
