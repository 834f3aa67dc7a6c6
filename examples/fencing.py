"""Why a lease has a fence: an agent that slept through its lease cannot spoil the next one's work.

Usage: python fencing.py
"""

from mufakat import Agent


class Register:
    """A resource with a guard of its own: it refuses a fence below the highest it has seen."""

    def __init__(self) -> None:
        self.highest = 0
        self.value = ""

    def write(self, value: str, fence: int) -> bool:
        if fence < self.highest:
            return False
        self.highest, self.value = fence, value
        return True


def main() -> None:
    register = Register()
    with Agent.join("sleeper", project=".") as slow, Agent.join("worker", project=".") as quick:
        old = slow.lease("task:register", ttl=5).acquire()
        fence = old.fences["task:register"]
        print(f"the sleeper has fence {fence}, and falls asleep")
        new = quick.lease("task:register", ttl=60, wait=30).acquire()
        newer = new.fences["task:register"]
        print(f"its lease expired; the worker has fence {newer} and writes: ", end="")
        print(register.write("by the worker", newer))
        print("the sleeper wakes up and writes: ", end="")
        print(register.write("by the sleeper", fence))
        print(f"the register says: {register.value}; may the sleeper go on? {old.valid}")
        new.release()


if __name__ == "__main__":
    main()
