"""The word for "this can't be known here": what a task, a law or a predictor says instead of a wrong number."""


class Unknown(ValueError):
    """A quantity was asked for that its owner can't give; the sentence says what is missing.

    Tasks, laws and predictors raise it from the methods that ask what they know. Whoever asked goes on to another way
    (Monte Carlo on tokens always works), or hands the sentence to the user.
    """
