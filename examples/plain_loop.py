"""A plain loop that takes part: it reads what is new, works under a lease, answers, and stops.

Usage: python plain_loop.py [seconds to wait for work]
"""

import sys

from mufakat import Agent


def work(task: str) -> str:
    """Stands for what your agent does."""
    return f"I counted the words of your request: {len(task.split())}."


def main(seconds: float) -> None:
    with Agent.join("plain-loop", role="tester", project=".") as agent:
        print(f"joined as {agent.identity}", flush=True)
        agent.working("looking for work")
        while True:
            news = agent.context(budget=2_000)
            if news:
                print(news)
            for letter in agent.inbox(wait=seconds):
                with agent.lease("task:word-count", ttl=60, wait=30, reason="counting") as lease:
                    lease.check()
                    answer = work(letter["text"])
                agent.send(letter["sender"], body=answer, reply_to=letter["message"])
            if not agent.may_stop():
                break
        agent.idle()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
