"""Figures, claims and the page that shows them."""
