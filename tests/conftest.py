"""Settings of the property tests, the same on every machine."""

from hypothesis import HealthCheck, settings

# Derandomized: a test that passed here passes everywhere, and a slow machine is no reason to fail.
settings.register_profile(
    "plain", derandomize=True, max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# To hunt for bugs: pytest --hypothesis-profile=thorough
settings.register_profile("thorough", settings.get_profile("plain"), derandomize=False, max_examples=500)
settings.load_profile("plain")
