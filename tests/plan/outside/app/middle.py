from .helpers import far


def step(df):
    far(df.filter("a > 1"))
