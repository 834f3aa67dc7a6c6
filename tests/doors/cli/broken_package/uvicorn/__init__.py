raise RuntimeError("a fault")
