"""Making text step by step. The search never sees a model: a step function is passed in."""
