"""Soft state that every family keeps: what lapses, what was seen, who is near; it knows no protocol."""
