"""The report as one HTML page, part by part."""
