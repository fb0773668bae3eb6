"""Studies: the paper's tables and figures, and benchmarks of the library.

``python -m studies list`` names them all. They are not part of the installed package.
"""
