"""Geometry on the Earth as a sphere: distances, circles, boxes of degrees and polygons."""
