"""Geometry on a spherical Earth: distances, circles, boxes of degrees and polygons."""
