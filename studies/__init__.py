"""Studies: the paper's tables and figures, and what the library itself is measured by.

``python -m studies list`` names them all. They stand outside the package that is installed.
"""
