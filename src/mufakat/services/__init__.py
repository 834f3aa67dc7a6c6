"""What the product does: load, decide, save, announce."""
