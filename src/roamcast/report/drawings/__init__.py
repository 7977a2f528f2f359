"""Figures, strips and maps as SVG, and the axes they share."""
