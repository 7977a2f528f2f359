"""Tools for testing routers; public, for third parties too."""

from roamcast.testing.mesh import LinkModel, Mesh

__all__ = ["LinkModel", "Mesh"]
