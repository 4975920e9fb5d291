# Plants in what heads are called, and in which ids their keys have. Run by tests/planted_bugs.sh,
# which brings `plant`, `tests` and $S.

P=$S/lens/patterns
LOOP="tests tests/lens/test_patterns.py"
FED="tests tests/lens/test_patterns_of_models.py"

plant "patterns: the token after is the token before" $P/scored.py 's/beside\(asked, -1\)/beside(asked, 1)/' $LOOP
plant "patterns: own keys are counted from the first" $P/scored.py 's/torch.arange\(keys - queries, keys/torch.arange(0, queries/' $LOOP
plant "patterns: padded queries count" $P/scored.py 's/return self.real_BT & \(self.source.count_BT/return (self.source.count_BT/' $LOOP
plant "patterns: a query without a choice counts" $P/scored.py 's/self.source.count_BT >= ROOM\)/self.source.count_BT >= 1)/' $LOOP
plant "patterns: what is near may be all there is" $P/scored.py 's/ & \(self.source.count_BT >= ROOM \* seen_BT\)//' $LOOP
plant "patterns: a query that cannot show it counts as none" $P/scored.py 's/can_BT = self.counted_BT & \(seen_BT > 0\) &/can_BT = self.counted_BT \&/' $LOOP
plant "patterns: induction looks at the token itself" $P/scored.py 's/asked.on\(\[last_BT \+ 1\]/asked.on([last_BT]/' $LOOP
plant "patterns: induction may look at the query itself" $P/scored.py 's/last_BT \+ 1 < asked.own_BT/last_BT < asked.own_BT/' $LOOP
plant "patterns: padding is an earlier place" $P/scored.py 's/known_BT = may_see\(asked.source, last_BT\) & /known_BT = /' $LOOP
plant "patterns: only the last place is a duplicate" $P/scored.py 's/REPEATS \+ 1\)\)/1))/' $LOOP
plant "patterns: tokens that came up often count too" $P/scored.py 's/few_BT = places.pop\(\) < .*/places.pop()/' $LOOP
plant "patterns: the first place, not the last" $P/repeats.py 's/last_before\(ids_BS: /never(ids_BS: /; s/before_BS = last_before\(ids_BS\)/before_BS = (ids_BS[:, None] == ids_BS[..., None]).tril(-1).long().argmax(-1)/' $LOOP
plant "patterns: a window's edge is a first token" $P/scored.py 's/asked.counted_BT & begins_BT/asked.counted_BT/' $LOOP
plant "patterns: the last key is a stripe" $P/scored.py 's/ & \(2 \* seers_BS >= counts_B\[:, None\]\)//' $LOOP
plant "patterns: a stripe gets what had no choice" $P/scored.py 's/-found.mass_BHT \* alone_BT\[:, None\]/0 * found.mass_BHT/' $LOOP
plant "patterns: spread blind rows make a stripe" $P/scored.py 's/source.weighs_all_BT is not None/False/' $LOOP
plant "patterns: evenness forgets the sink" $P/scored.py 's/ \+ mass_BHT.log\(\)//' $LOOP
plant "patterns: the diagonal starts at the second key" $P/scored.py 's/\(place_BHT - along/(place_BHT + 0.1 - along/' $LOOP
plant "patterns: the name that says least" $P/named.py 's/for pattern in PATTERNS:/for pattern in PATTERNS[::-1]:/' $LOOP
plant "patterns: just too little is enough" $P/named.py 's/score >= pattern.enough/score >= pattern.enough - 0.01/' $LOOP
plant "patterns: heads are counted anew" $P/found.py 's/if numbers is None else numbers/if True else numbers/' $FED
plant "patterns: ids of another side" $S/lens/seen.py 's/told = run.source/told = run.beams.fed[0]/' $FED
plant "patterns: ids of beams that did not win" $S/lens/watching/fed.py 's/if rows is not None:/if False:/' $FED
plant "patterns: ids of the last step alone" $S/lens/watching/fed.py 's/ids = fed\[piece.step\] if/ids = fed[-1] if/' $FED
plant "patterns: ids of a translator are its source" $S/lens/watching/fed.py 's/if len\(ours\) == 1:/if False:/' $FED
plant "patterns: ids that do not fit pass" $P/found.py 's/if tuple\(ids_BS.shape\) != .*/if False:/' $FED
plant "patterns: a trace forgets the names" $S/lens/recorded.py 's/\*\*names_of\(patterns, look.site\),//' $FED
plant "patterns: a hook stays on the encoder" $S/lens/watch.py 's/stack.callback\(hook.remove\)/pass/' $FED
plant "patterns: induction is never found" $P/scored.py 's/return asked.on\(\[last_BT \+ 1\], known_BT\)/return 0 * asked.look.summaries.peak_BHT.sum((0, 2))/' tests tests/lens/test_induction.py -k learns
