"""The shape alphabet.

One letter means one thing everywhere in this project. A tensor is named `what_SHAPE`, so `q_BHTD`
reads "queries, indexed by batch, head, query position and width".

    B  batch                     T  query positions            D  width of one query/key head
    H  query heads               S  key/value positions        E  width of one value head
    G  key/value heads           V  vocabulary                 M  width of the model
    L  layers                    F  width inside feed-forward  1  an axis of length one
"""
