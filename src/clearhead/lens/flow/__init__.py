"""What one position took from every input token, through all layers, in O(n) memory.

answer.py        what comes back
layers.py        the attentions of a run in the order of the model; which position is meant
products.py      a vector times one attention's matrix, which is never built
rollout.py       attention alone: Abnar & Zuidema 2020
relevance.py     attention times the gradient of a number: Chefer et al. 2021
run_once.py      one run of a model with the gradient at every attention
integrated.py    gradients along the way from no text to the text: Sundararajan et al. 2017
"""

from .answer import Flow as Flow
from .integrated import integrated_gradients as integrated_gradients
from .relevance import relevance as relevance
from .rollout import rollout as rollout

__all__ = ["Flow", "integrated_gradients", "relevance", "rollout"]
