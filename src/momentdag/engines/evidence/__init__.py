"""The evidence engine: a posterior over graph pairs from marginal likelihoods."""
