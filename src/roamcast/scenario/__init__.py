"""Scenario files: strict parsing into immutable models."""
