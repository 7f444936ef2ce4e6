"""Learn the attention mechanism from nothing, with every number proven."""
