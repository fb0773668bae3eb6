"""Files on disk: written whole or not at all, checked when they are read, never executed."""
