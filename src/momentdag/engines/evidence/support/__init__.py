"""What search and sampling share: bit masks, caches, checkpoints."""
