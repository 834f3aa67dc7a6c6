"""How agents are told apart."""
