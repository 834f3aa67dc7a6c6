"""What outside programs need to talk to a running Mufakat; standard library only."""
