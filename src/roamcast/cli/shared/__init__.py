"""Code that several commands share: options, limits, progress bars, folders, running campaigns."""
