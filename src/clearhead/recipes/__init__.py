"""Complete runs, and the text they are about.

catalog.py    every run by name
dates/        dates in English and Chinese: unlimited parallel text whose word order crosses
"""

from .catalog import RECIPES as RECIPES
from .catalog import recipe_of as recipe_of

__all__ = ["RECIPES", "recipe_of"]
