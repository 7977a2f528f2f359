"""Editing of scenario files: forms from the models, changes of single keys, checks and maps."""
