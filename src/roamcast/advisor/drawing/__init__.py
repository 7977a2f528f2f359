"""Random worlds: valid scenarios drawn from declared ranges."""
