"""Types and examples that hold a language model's replies to the tools, types and properties that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

import dspy
from pydantic import Field, WithJsonSchema, create_model

from kg.growing import NodeType, Schema
from signatures.thoughts import AddEdgeOperation, AddNodeOperation, NodeName, SetPropertyOperation, ToolRequest

_BOOKS = {
    "types": "type:Book: rdfs:label, prop:year\ntype:Author: rdfs:label\nedge:written_by: Book -> Author",
    "graph": "Book Emma (year 1815); written_by -> Author Jane Austen",
    "today": "1820-01-05",
    "problem": "none",
}


def query_examples() -> list[dspy.Example]:
    """Returns example queries about another subject: a property of a node, and an edge followed backwards.

    Small models write SQL where they have not seen them.
    """
    named = 'SELECT ?year WHERE { ?book a type:Book ; rdfs:label "Emma" ; prop:year ?year }'
    linked = (
        "SELECT ?name WHERE { ?book a type:Book ; rdfs:label ?name ; edge:written_by ?author . "
        '?author rdfs:label "Jane Austen" }'
    )
    asked = (("when was Emma written?", named), ("which books are by Jane Austen?", linked))
    inputs = (*_BOOKS, "question")
    return [dspy.Example(**_BOOKS, question=question, query=query).with_inputs(*inputs) for question, query in asked]


def operations_type(schema: Schema, scope: str | None = None) -> Any:
    """The type of a list of operations that can name exactly the types and properties of a schema.

    Args:
        schema: With at least one node type.
        scope: The entity whose own types hold too.
    """
    node_types = schema.node_types(scope)
    names: Any = Literal[tuple(kind.name for kind in node_types)]
    node = create_model("NodeName", __base__=NodeName, type=(names, ...))
    operations: list[Any] = []
    for kind in node_types:
        named: Any = Literal[kind.name]
        operations.append(
            create_model(
                f"Add{kind.name}", __base__=AddNodeOperation, type=(named, ...), properties=(_properties(kind), ...)
            )
        )
    for kind in schema.edge_types(scope):
        named = Literal[kind.name]
        operations.append(
            create_model(
                f"Add_{kind.name}",
                __base__=AddEdgeOperation,
                type=(named, ...),
                source=(node, ...),
                target=(node, ...),
                properties=(_properties(kind), Field(default_factory=dict)),
            )
        )
    operations.append(create_model("SetProperty", __base__=SetPropertyOperation, node=(node, ...)))
    union: Any = Union[tuple(operations)]  # noqa: UP007 - made at run time
    return list[union]


def _properties(kind: NodeType) -> Any:
    """A dictionary that a model held to a JSON schema can only write with the type's own properties."""
    return Annotated[dict[str, Any], WithJsonSchema({**kind.properties_schema, "additionalProperties": False})]


def calls_type(tools: Mapping[str, Mapping[str, Any]], most: int, least: int = 1) -> Any:
    """The type of a list of calls that can name exactly these tools and their arguments.

    Args:
        tools: For each tool's name the JSON Schema of each argument; at least one tool.
        most: Calls at the most.
        least: Calls at the least.
    """
    calls: list[Any] = []
    for name, arguments in tools.items():
        named: Any = Literal[name]
        rule = {
            "type": "object",
            "properties": dict(arguments),
            "required": [key for key, schema in arguments.items() if "default" not in schema],
            "additionalProperties": False,
        }
        held: Any = Annotated[dict[str, Any], WithJsonSchema(rule)]
        calls.append(create_model(f"Call_{name}", __base__=ToolRequest, tool=(named, ...), arguments=(held, ...)))
    union: Any = Union[tuple(calls)]  # noqa: UP007 - made at run time
    return Annotated[list[union], Field(min_length=least, max_length=most)]
