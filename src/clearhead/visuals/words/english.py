"""English."""

SPACE = " "

TITLES = {
    "embeddings": "embeddings",
    "positions": "positions",
    "inputs": "inputs",
    "q": "queries",
    "k": "keys",
    "v": "values",
    "scores": "scores",
    "scaled": "scaled",
    "masked": "masked",
    "weights": "weights",
    "mixed": "mixed",
    "joined": "heads side by side",
    "output": "output",
    "residual": "residual",
    "norm": "norm",
    "feed_forward": "feed-forward",
    "feed_forward_residual": "residual of the feed-forward",
    "feed_forward_norm": "norm after the feed-forward",
    "order": "another order",
    "shuffled": "shuffled, without positions",
    "shuffled_difference": "shuffled − the old rows, moved",
    "placed": "with positions",
    "placed_shuffled": "shuffled, with positions",
    "placed_difference": "shuffled − the old rows, moved",
}

WHY = {
    "embeddings": "Every token becomes a row of numbers, looked up in a table that was learned.",
    "positions": (
        "Attention alone cannot tell first from last, so every place adds numbers of its own."
    ),
    "inputs": "What is said and where it stands, in one row for each token.",
    "q": "What each token is looking for.",
    "k": "What each token can be found by.",
    "v": "What each token hands over once it is found.",
    "scores": (
        "Every query meets every key: multiply number by number and add up. "
        "The larger the sum, the better they match."
    ),
    "scaled": (
        "A sum of d products grows like √d. Dividing by √d takes that growth away, "
        "so that softmax does not freeze when heads are wide."
    ),
    "masked": (
        "A key that must not be looked at gets −∞ here, before softmax, "
        "so that its weight becomes exactly 0."
    ),
    "weights": (
        "Softmax, once: exp makes every score positive, dividing by the row's sum makes shares. "
        "Every row adds up to 1."
    ),
    "mixed": "Every query takes its shares of all values: a weighted average of the rows of V.",
    "joined": "Each head has worked on its own; what they found is laid side by side.",
    "output": "One more matrix lets the heads' findings mix.",
    "residual": "What was found is added to what was there before, so nothing gets lost.",
    "norm": "Every row is brought back to an even size.",
    "feed_forward": (
        "Attention moved information between places; now each row is worked on by itself, "
        "through two layers with a bend in between."
    ),
    "feed_forward_residual": "Again the result is added to what was there before.",
    "feed_forward_norm": "And again every row is brought to an even size.",
    "order": "The same tokens, in another order: which old row stands where now.",
    "shuffled": "The whole attention again, with the tokens in the new order.",
    "shuffled_difference": (
        "All zero: the same rows, in the new order. Attention without positions sees a bag of "
        "tokens. That is permutation equivariance."
    ),
    "placed": "Now the positions are added first, tokens in the old order.",
    "placed_shuffled": "Positions stay where they are, the tokens on them change places.",
    "placed_difference": "Not zero: with positions, the order of the tokens makes a difference.",
}

NOTES = {
    "inputs_given": "The inputs were given with positions in them already.",
    "no_positions": "There are none here: the rows know nothing of their order.",
    "positions_rotary": (
        "None are added: this model turns queries and keys by their position instead (rotary)."
    ),
    "positions_alibi": (
        "None are added: this model takes a little off every score for distance (ALiBi)."
    ),
    "positions_buckets": (
        "None are added: this model adds a learned number to every score, by distance (T5)."
    ),
    "nothing_embedded": "Not needed yet: this example starts at the table.",
    "alpha_queries": (
        "α says how much of each row is wanted. α1 is one-hot: only the third row. "
        "α2 wants half of two rows, α3 a quarter of each."
    ),
    "unit_keys": "Each row is its own number, one-hot: q·k simply reads α.",
    "colour_table": "The table: amounts of red, green and blue light, one colour a row.",
    "not_scaled": "Not needed yet: nothing is divided.",
    "already_shares": (
        "α is made of shares already: none below 0, each row adds up to 1. Where do shares come "
        "from when q and k are learned? From softmax: see the example `powerful`."
    ),
    "no_output_projection": "There is no W_o here: the joined heads are the output.",
    "embedding_scaled": "Multiplied by {scale:.4g}, as this model does.",
    "not_words": "This model does not read words: its inputs are made from a picture or sound.",
    "types_added": "A row for the segment (first or second text) is added as well.",
    "embedding_norm": "Embeddings and positions went through a norm of their own.",
    "after_layers": "This is what layers below made of them: {layers} before this one.",
    "normed_before": "This model norms first: these are the normed rows.",
    "shared_head": (
        "Keys and values are shared: query head {head} of {heads} reads key/value head {group} "
        "of {groups} (from 0)."
    ),
    "from_memory": "Keys and values come from the encoder: this is cross-attention.",
    "turned": "Queries and keys are shown after they were turned by their position (rotary).",
    "own_scale": "This attention multiplies by {scale:.4g} and not by 1/√d.",
    "softcap": "Then bent to stay between -{softcap:g} and {softcap:g}.",
    "bias": "Then a number for the distance is added to every score ({kind}).",
    "sinks": "A sink takes part of every row and gives no value: rows add up to less than 1.",
    "mask_full": "Nothing is masked here: everyone may look at everyone.",
    "mask_causal": ("Causal: nobody looks ahead. {forbidden} of {pairs} pairs are forbidden."),
    "mask_rule": "{forbidden} of {pairs} pairs are forbidden.",
    "blind": "{rows} queries may look at nothing at all: their weights are 0.",
    "agrees": (
        "Checked: worked out again from q, k and v by the definition in float64, this differs "
        "from what the layer really gave (kernel {kernel}) by {difference:.1e} at most; rounding "
        "may reach {allowed:.1e}."
    ),
    "disagrees": (
        "WARNING: worked out again by the definition, this differs from what the layer really "
        "gave (kernel {kernel}) by {difference:.1e}; rounding explains {allowed:.1e} at most."
    ),
    "cross_follows": "Cross-attention comes next: explain it with the site {site}.",
    "moved": "The largest difference is {largest:.4f}.",
}

AXES = {
    "query": "queries",
    "key": "keys",
    "shuffled": "tokens",
    "width": "numbers",
    "value": "numbers",
    "model": "numbers",
    "embedding": "numbers",
    "joined": "numbers",
    "out": "numbers",
}

SCREEN = {
    "title": "Attention, step by step",
    "tokens": "tokens",
    "site": "{site}, head {head} of {heads} (from 0), query {query}",
    "query": "query {query}",
    "head": "head {head} of {heads} (from 0), query {query}",
    "sources": "tokens looked at",
    "absent": "—",
    "more_rows": "… {count} more rows",
    "more": "+{count}",
    "others": "{count} others",
    "by_hand": "by hand: {line}",
    "same": "The same numbers as in {step}.",
    "comma": ", ",
    "end": "{query} gathers from: {shares}.",
    "end_spread": "{query} gathers a little from each of {count}.",
    "end_blind": "{query} may look at nothing, so it gathers nothing.",
    "weights_used": "multiplied with",
    "null": "null stands for −∞.",
}
