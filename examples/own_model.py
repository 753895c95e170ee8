"""A language model of your own beside the search; it may only name figures of the report.

python examples/own_model.py openai/gpt-4o-mini                         # the key is in the environment
python examples/own_model.py openai/qwen http://127.0.0.1:8000/v1       # any server of the OpenAI protocol
"""

import sys

import dspy

import finpath

model, *address = sys.argv[1:]
server = {"api_base": address[0], "api_key": "none"} if address else {}
with dspy.context(lm=dspy.LM(model, temperature=0.0, **server)):
    answer = finpath.ask("MRLW/2020/page_49.pdf", "what was the net income in 2020?")
print(answer.answer, answer.confidence, answer.sources)
print("prompts:", answer.turns[-1].usage.lm_calls)
