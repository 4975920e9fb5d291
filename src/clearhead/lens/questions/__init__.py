"""Questions to one attention, answered from its queries, its keys and its rows' lse.

source.py      what is asked: every query and key of one site
scores.py      the scores of any tile of pairs: the one place where they are made
sweep.py       one pass over all tiles, for everything that was asked at once
collectors.py  what to keep of a tile: one small class a statistic
answers.py     what comes back, and what it leaves out
"""
