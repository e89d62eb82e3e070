"""How each checkpoint of the course is made: data, model, training, seed."""

from __future__ import annotations

from seqcourse.errors import CourseError
from seqcourse.zoo.recipes import senses, texts, translators
from seqcourse.zoo.recipes.ingredients import Recipe

__all__ = ["RECIPES", "Recipe", "names", "recipe"]

RECIPES = {one.name: one for one in (*translators.RECIPES, *texts.RECIPES, *senses.RECIPES)}


def names() -> list[str]:
    """Names of all checkpoints."""
    return list(RECIPES)


def recipe(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        CourseError: if there is no such recipe.
    """
    if name not in RECIPES:
        raise CourseError(f"The zoo has no {name!r}. It has: {', '.join(RECIPES)}.")
    return RECIPES[name]
