"""Which likely mistake explains the results of several calls at once? It stands a floor above now."""

from seqcourse.check.naming import explaining

__all__ = ["explaining"]
