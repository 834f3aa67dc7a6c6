"""The test equipment: what the tests need of the world outside, built so that no key, no
vendor and no network beyond loopback is ever used.
"""
