"""Why: what became of events and requests that were not answered, told from the facts of any protocol."""
