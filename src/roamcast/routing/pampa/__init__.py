"""PAMPA: flooding in which those repeat who bring a message on, and those keep still who would not."""
