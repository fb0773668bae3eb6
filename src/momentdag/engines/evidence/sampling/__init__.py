"""Drawing graph pairs from the posterior: exactly, or by Markov chains."""
