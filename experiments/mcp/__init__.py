"""finpath for assistants that speak the Model Context Protocol (:mod:`experiments.mcp.server`)."""
