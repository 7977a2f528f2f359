"""The signal of neighbours on Wi-Fi, read from the kernel by netlink."""
