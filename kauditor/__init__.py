"""kauditor: what breaks first on the way to N nodes, how sure are we, and what to do about it.

Check authors import :mod:`kauditor.api`; everything else is the tool's own.
"""

__version__ = "0.1.0"
