"""Boxes of value sets: what a conjunction of constraints allows, exactly."""
