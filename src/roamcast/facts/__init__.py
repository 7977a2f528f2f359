"""The facts of a run: schemas of the tables, recording, reading, writing and comparing them."""
