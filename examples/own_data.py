"""Questions of your own about files of your own, with the answers that you expect.

python examples/own_data.py        # then `finpath inspect latest` and `finpath mlflow`
"""

from pathlib import Path

import dspy

import finpath

Path("income.csv").write_text("item,2023,2022\nNet sales,4120,3980\nCost of sales,2610,2544\nGross profit,1510,1436\n")
report = finpath.read("income.csv")
gold = {
    "what were net sales in 2023?": "4120",
    "what was the cost of sales in 2022?": 2544,
    "what was the change in net sales from 2022 to 2023?": 140,
}
dev = [dspy.Example(report=report, question=question, answer=answer) for question, answer in gold.items()]
evaluation = finpath.evaluate("beam", dev, run_name="my questions")
print("right:", evaluation.figures["exe_accuracy"])
for score in evaluation.scores:
    print("right" if score.exact else "wrong", score.question, score.answer, score.gold_answer, sep=" | ")
