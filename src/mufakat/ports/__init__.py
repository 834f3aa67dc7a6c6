"""What the services need from the world, in the words of the rules."""
