"""sparkls, the language server for Apache Spark, and where its binary is."""

from ._binary import find_binary

__all__ = ["find_binary"]
