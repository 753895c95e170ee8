"""What an assistant does with `finpath mcp`: it starts the server, reads a report and asks.

python examples/assistant.py        # needs pip install 'finpath[mcp]'
"""

import asyncio
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "finpath", "mcp", "--root", str(Path.cwd())])


async def main() -> None:
    """Reads a table and asks two questions about it."""
    Path("income.csv").write_text("item,2023,2022\nNet sales,4120,3980\nGross profit,1510,1436\n")
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        read = await session.call_tool("read_report", {"files": ["income.csv"]})
        print(read.structured_content["title"])
        for question in ("what were net sales in 2023?", "and in 2022?"):
            reply = await session.call_tool("ask", {"question": question})
            content = reply.structured_content
            print(question, "->", content["answer"] or content["message"], content["sources"][0]["place"])


asyncio.run(main())
