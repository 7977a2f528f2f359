"""What several verbs share: options, limits and exit codes, a bar, whose a folder is, conducting."""
