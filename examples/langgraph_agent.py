"""LangGraph: what is new goes into the graph's state, the answer goes back under a lease.

Needs `pip install langgraph`. Usage: python langgraph_agent.py [seconds to wait for work]
"""

import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from mufakat import Agent


class Work(TypedDict):
    """What flows through the graph."""

    news: str
    task: str
    answer: str


def draft(state: Work) -> dict[str, str]:
    """Stands for your model's node; `news` belongs in front of its prompt."""
    return {"answer": f"Noted: {state['task']} (told {len(state['news'])} characters of news)"}


def graph() -> StateGraph:
    built = StateGraph(Work)
    built.add_node("draft", draft)
    built.add_edge(START, "draft")
    built.add_edge("draft", END)
    return built


def main(seconds: float) -> None:
    compiled = graph().compile()
    with Agent.join("langgraph", role="writer", project=".") as agent:
        print(f"joined as {agent.identity}", flush=True)
        for letter in agent.inbox(wait=seconds):
            agent.working(f"answering {letter['sender']}")
            with agent.lease("task:draft", ttl=120, wait=30):
                done = compiled.invoke(
                    {"news": agent.context(), "task": letter["text"], "answer": ""}
                )
            agent.send(letter["sender"], body=done["answer"], reply_to=letter["message"])
        agent.idle()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
