"""ContextPack: what one agent is told for one request, and the receipt that says why."""
