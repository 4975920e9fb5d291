"""Watching a model: what its attention announces is heard, and kept as far as was asked.

wanted.py        what to keep, checked at the door
attach.py        what is put in place around a model, and taken away after
keeper.py        hears every announcement of one model and files it by site
pieces.py        prefill and decoding steps of one site, joined to one picture
tally.py         statistics worked out inside the call, where nothing else is kept
host.py          what was kept, moved to the host's memory
reading.py       masks that came written out, read as rules
fed.py           the ids a model was given, and where they go in
beams.py         which beam each row was, and the hypothesis that was returned
ways.py          the calls of one site along the way of that hypothesis
budget.py        how much may be kept, and the sentence when it is too much
huggingface.py   makes models of `transformers` announce; nothing about them changes
foreign_sites.py which of their modules attend, and how we name them
overheard.py     what fused attention was really given, and its rows' lse
generation.py    how their beam search moves rows about, and what it returned
"""
