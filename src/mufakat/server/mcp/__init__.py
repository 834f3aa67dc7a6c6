"""The MCP door: eight tools for agents, over HTTP."""
