"""The policy: classes, what they may do, and a file that is read whole or not at all."""

from __future__ import annotations

import tomllib

import pytest

from core.coordination.lease_cases import held, want
from mufakat.core.coordination import gate, policy, policy_file
from mufakat.core.coordination.lease import Rule
from mufakat.core.coordination.policy import Policy, Preemption

WHOLE = """
default = "batch"
operator = "incident"
aging_seconds = 600
grace_seconds = 30
queue = 5
acquires_per_second = 2.5
burst = 4

[classes.batch]
max_hold_seconds = 600
min_hold_seconds = 10
preemption = "now"
leases = 2
broad = 2

[roles]
ci = "batch"
reviewer = "high"

[identities]
"claude@*:abc*" = "incident"
"codex@*" = "normal"

[gate]
reviewer = "requires_ack"

[high_traffic]
wait_on_seconds = 20
wait_off_seconds = 10
depth_on = 4
depth_off = 1
max_ttl_seconds = 60
"""


def read(text: str) -> Policy:
    found = policy_file.parse(tomllib.loads(text))
    assert isinstance(found, Policy), found
    return found


def test_an_empty_file_is_the_default() -> None:
    assert read("") == policy.DEFAULT


def test_every_setting_is_read() -> None:
    found = read(WHOLE)
    batch = found.classes[0]
    assert (batch.max_hold, batch.min_hold, batch.leases, batch.broad) == (600_000, 10_000, 2, 2)
    assert batch.preemption is Preemption.NOW
    assert found.classes[1:] == policy.DEFAULT.classes[1:]
    assert (found.default, found.operator, found.aging, found.grace) == (0, 3, 600_000, 30_000)
    assert (found.queue, found.acquires.burst, found.acquires.per_second) == (5, 4, 2.5)
    assert policy.gate_rule(found, "reviewer") is gate.Rule.REQUIRES_ACK
    assert policy.gate_rule(found, "tester") is gate.Rule.ALL
    assert found.high_traffic == policy.HighTraffic(20_000, 10_000, 4, 1, 60_000)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("defualt = 'high'", "defualt"),
        ("default = 'urgent'", "default"),
        ("default = 3", "default"),
        ("queue = 0", "queue"),
        ("queue = 1.5", "queue"),
        ("queue = true", "queue"),
        ("aging_seconds = nan", "aging_seconds"),
        ("aging_seconds = '1'", "aging_seconds"),
        ("classes = 1", "classes"),
        ("[classes.urgent]", "classes"),
        ("[classes.high]\npreempt = 'now'", "classes.high.preempt"),
        ("[classes.high]\npreemption = 'later'", "classes.high.preemption"),
        ("[classes.high]\npreemption = []", "classes.high.preemption"),
        ("[roles]\nci = 'top'", "roles.ci"),
        ("[roles]\nci = ['high']", "roles.ci"),
        ("trust_claimed_roles = 1", "trust_claimed_roles"),
        ("[identities]\n'a[b' = 'high'", "identities.a[b"),
        ("[gate]\nci = 'none'", "gate.ci"),
        ("[high_traffic]\ndepth_on = 2\ndepth_off = 3", "high_traffic.depth_off"),
    ],
)
def test_p6_a_wrong_file_names_its_first_fault(text: str, where: str) -> None:
    found = policy_file.parse(tomllib.loads(text))
    assert isinstance(found, policy_file.Wrong)
    assert found.where == where
    assert found.why


def test_p1_a_request_lowers_its_class_and_never_raises_it() -> None:
    rules = read(WHOLE)

    def rank(who: str, role: str = "", asked: int | None = None) -> policy.Ranked:
        return policy.rank(rules, who, role=policy.Role(role, granted=True), asked=asked)

    assert rank("gemini@box:000001") == policy.Ranked(0)
    assert rank("gemini@box:000001", "reviewer") == policy.Ranked(2)
    assert rank("codex@box:000001", "reviewer") == policy.Ranked(1)
    assert rank("claude@box:abc001") == policy.Ranked(3)
    assert rank("claude@box:abc001", asked=1) == policy.Ranked(1)
    assert rank("gemini@box:000001", asked=3) == policy.Ranked(0, clamped=True)
    by_person = policy.rank(rules, "human@box:000001", operator=True, asked=None)
    assert by_person == policy.Ranked(3)


@pytest.mark.parametrize(
    ("role", "granted", "trusted", "expected"),
    [
        ("fire", True, False, policy.Ranked(3)),
        ("fire", False, False, policy.Ranked(1, claimed="fire")),
        ("fire", False, True, policy.Ranked(3)),
        ("ci", False, False, policy.Ranked(0)),
        ("other", False, False, policy.Ranked(1)),
    ],
)
def test_p1_a_claimed_role_lowers_a_class_and_never_raises_it(
    role: str, granted: bool, trusted: bool, expected: policy.Ranked
) -> None:
    text = f"trust_claimed_roles = {str(trusted).lower()}\n"
    rules = read(text + '[roles]\nfire = "incident"\nci = "batch"\n')
    given = policy.Role(role, granted)
    assert policy.rank(rules, "codex@box:000001", role=given, asked=None) == expected
    asked = policy.rank(rules, "codex@box:000001", role=given, asked=3)
    assert (asked.rank, asked.clamped) == (expected.rank, expected.rank < 3)


def test_row_24_a_broad_pattern_of_a_low_class_is_refused() -> None:
    roots = ("/r",)
    found = policy.too_broad(policy.DEFAULT, want("a", "file:/r/**", rank=0), roots=roots)
    assert found is not None and found.rule is Rule.TOO_BROAD
    for allowed in (want("a", "file:/r/**"), want("a", "file:/r/src/**", rank=0)):
        assert policy.too_broad(policy.DEFAULT, allowed, roots=roots) is None


def test_a_class_holds_so_many_leases() -> None:
    rules = read(WHOLE)
    assert policy.over_budget(rules, want("a", rank=0), held=1) is None
    found = policy.over_budget(rules, want("a", rank=0), held=2)
    assert found is not None and found.rule is Rule.BUDGET


def test_l10_equal_classes_never_preempt() -> None:
    low = held(want("a", rank=0))
    rules = read(WHOLE)
    assert policy.preemption(rules, want("b", rank=0), low) is Preemption.NEVER
    assert policy.preemption(rules, want("b", rank=1), low) is Preemption.NOW
    assert policy.preemption(rules, want("b", rank=1), held(want("a", rank=2))) is Preemption.NEVER


def test_high_traffic_goes_off_later_than_it_goes_on() -> None:
    rules = read(WHOLE)

    def busy(before: bool, wait: int, depth: int) -> bool:
        return policy.busy(rules, before=before, p95_wait=wait, depth=depth)

    assert not busy(False, 19_999, 3)
    assert busy(False, 20_000, 0)
    assert busy(False, 0, 4)
    assert busy(True, 10_001, 0)
    assert busy(True, 0, 2)
    assert not busy(True, 10_000, 1)
    assert policy.ttl(rules, 900_000, high_traffic=True) == 60_000
    assert policy.ttl(rules, 900_000, high_traffic=False) == 900_000
