"""The library: facts about the project and the room, read from outside the store."""
