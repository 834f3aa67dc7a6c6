"""Models that turn texts into vectors, and the matrix in which vectors are compared."""
