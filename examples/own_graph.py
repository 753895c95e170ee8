"""A conversation about a graph of your own: a file of RDF, or of triples as here.

python examples/own_graph.py
"""

from pathlib import Path

from experiments.facade import find_subject
from programs.turns import Conversation

FACTS = """Larkspur | is a | ship
Larkspur | captain | Mara Stenhouse
Larkspur | home port | Quillhaven
Mara Stenhouse | birth place | Tern Bay
"""

Path("ships.txt").write_text(FACTS)
subject = find_subject(["ships.txt"])
conversation = Conversation(subject.program, subject.world)
for question in ("who is the captain of the Larkspur?", "where was she born?", "what is the tonnage of the Larkspur?"):
    turn = conversation.ask(question)
    print(question, "->", turn.words if turn.failure is None else f"no answer: {turn.message}")
    for title, text in subject.basis(turn):
        print("   ", title, text)
