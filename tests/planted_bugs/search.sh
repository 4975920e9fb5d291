# Plants in searching: caches whose rows move, greedy and beam search, sessions, translating. Run by
# tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

FOUND="tests tests/inference"
CACHES="tests tests/attention/test_caches.py -k rows_put_in_another_order"
PAST="tests tests/attention/test_caches.py -k past_put_in_another_order"
ANSWERED="tests tests/tasks/test_translating.py"
THEIRS="tests tests/parity/test_beam_search.py -k Marian"

plant "search: values stay where they are" $S/attention/caches/cache.py 's/self.v_BGSE.index_select\(0, rows_B\)/self.v_BGSE/' $CACHES
plant "search: a rolling cache forgets to move" $S/attention/caches/rolling.py 's/self.room = self.room.reorder\(rows_B\)/pass/' $CACHES
plant "search: memories stay where they are" $S/models/decoder.py 's/self.memories\[:\] = .*/pass/' $PAST
plant "search: memories never move with beams" $S/inference/session.py 's/if prompts == self.prompts:/if True:/' $FOUND/test_session.py
plant "search: padding of other sources" $S/inference/session.py 's/self.lengths_B = self.lengths_B.index_select\(0, rows_B\)/self.lengths_B = self.lengths_B[: len(rows)]/' $FOUND/test_session.py
plant "search: texts that ended are not left out of the past" $S/inference/greedy.py 's/rows = None if len\(staying\) == len\(running\) else staying/rows = None/' $FOUND
plant "search: the end does not count for the length" $S/inference/beam.py 's/divide\(len\(ids\) \+ 1\)/divide(max(1, len(ids)))/' $FOUND/test_beam.py
plant "search: the end does not count for the length, to others" $S/inference/beam.py 's/divide\(len\(ids\) \+ 1\)/divide(max(1, len(ids)))/' $THEIRS
plant "search: any end is kept, not those of beams" $S/inference/beam.py 's/\(stops or full\) and rank < search.beams/(stops or full)/' $FOUND/test_beam.py
plant "search: patience that is sure forgets longer texts" $S/inference/beam.py 's/\(length \+ 1, self.max_tokens\)/(length + 1,)/' $FOUND/test_beam.py
plant "search: patience that is likely has none" $S/inference/beam.py 's/patience == "none":/patience != "sure":/' $THEIRS
plant "search: forbidden tokens make the others likelier" $S/inference/likeliest.py 's/    return log_BV$/    return log_BV.log_softmax(-1)/' $THEIRS
plant "search: too few options beside the ends" $S/inference/beam.py 's/search.beams \+ len\(search.stops\)/search.beams/' $FOUND/test_beam.py
plant "search: any of those that are as likely" $S/inference/likeliest.py 's/as_likely_B.nonzero\(\)/as_likely_B[:0].nonzero()/' $FOUND/test_beam.py
plant "search: rows of the last sentence" $S/inference/beam.py 's/        first = end/        first += 0/' $FOUND/test_beam.py
plant "search: one limit for all" $S/inference/beam.py 's/Sentence\(search, limit, row\)/Sentence(search, max(limits), row)/' $FOUND/test_beam.py
plant "search: answers in the order of lengths" $S/tasks/translating.py 's/answers\[place\] = /answers[places.index(place)] = /' $ANSWERED
plant "search: padding of a source is read" $S/tasks/translating.py 's/network.encoder\(given.ids_BT, lengths_B=given.lengths_B\)/network.encoder(given.ids_BT)/' $ANSWERED
plant "search: padding is said" $S/tasks/translating.py 's/\(\*unspelled, padding\)/unspelled/' $ANSWERED
plant "search: no limit by learned positions" $S/tasks/translating.py 's/room = None if positions is None else positions.length/room = None/' $ANSWERED
