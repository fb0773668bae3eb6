"""Finding the best graph pairs: parents, candidates, orders, starts."""
