"""Strict files to frozen models."""
