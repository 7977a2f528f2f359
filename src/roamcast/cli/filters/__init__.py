"""The command `roamcast filter`."""
