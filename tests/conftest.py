"""What every test shares: property tests draw the same examples every time and keep no files."""

from hypothesis import settings

settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
settings.load_profile("same every time")
