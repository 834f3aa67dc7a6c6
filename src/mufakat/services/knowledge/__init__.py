"""What an agent may look up: conversations, memory, code, documents, skills, sessions."""
