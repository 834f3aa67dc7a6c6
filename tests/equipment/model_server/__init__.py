"""A scripted model server for the four wire protocols that real agent CLIs speak.

The real Claude Code, Codex, Gemini CLI and OpenCode binaries can so be driven end to end without
a vendor: the server plays the model from a script and keeps every request body.
"""
