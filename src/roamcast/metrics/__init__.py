"""The metrics of a run, each declared once with its name, unit, meaning and computation."""
