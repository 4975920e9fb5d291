# Plants in what is kept of a watched model. Run by tests/planted_bugs.sh, which brings `plant`,
# `tests` and $S.

W=$S/lens/watching
BEAMS="tests tests/lens/test_watch_beams.py"
SETTINGS="tests tests/lens/test_watch_settings.py"
RECORDED="tests tests/lens/test_recorded.py"

plant "watching: statistics stay where the beam was" $W/ways.py 's/rows_at\(ways, tally.step\)/rows_at(ways, 0)/' $BEAMS
plant "watching: what has ended goes on" $W/ways.py 's/\[tally.step < len\(way\) for way in ways\]/[True for way in ways]/' $BEAMS
plant "watching: what has ended still gives" $W/tally.py 's/received_WHS \* on_W.*/received_WHS/' $BEAMS
plant "watching: keys behind a window are counted anew" $S/lens/summed.py 's/top.keys_BHTk \+ shift \* /top.keys_BHTk + 0 * /' $BEAMS
plant "watching: distances of steps are put side by side" $S/lens/summed.py 's/self.site.endswith\("cross"\) and/False and/' $BEAMS
plant "watching: statistics stay on the device" $W/keeper.py 's/else tally_on_host\(tally\)/else tally/' $SETTINGS
plant "watching: what was moved away is counted" $W/keeper.py 's/self.budget.take\(site, piece.tensors\(\)\)/self.budget.take(site, [request.q_BHTD])/' $SETTINGS
plant "watching: what is shared is counted twice" $W/budget.py 's/tensor.data_ptr\(\): tensor for/id(tensor): tensor for/' $SETTINGS
plant "watching: a setting without effect passes" $W/wanted.py 's/if "top" not in statistics:/if False:/' $SETTINGS
plant "watching: an early question answers for later" $S/lens/seen.py 's/, kept.heard, /, /' $SETTINGS
plant "watching: padding gives in cross-attention" $W/keeper.py 's/return ~beside.padded_BT.*/return None/' $SETTINGS
plant "watching: a wrong lse is taken for some keys" $S/lens/questions/cells.py 's/return lse if bool\(.*/return lse/' tests tests/lens/test_questions.py -k cells
plant "watching: a wrong lse is taken for every key" $S/lens/questions/cells.py 's/if rows_add_up\(.*/if True:/' tests tests/lens/test_questions.py -k cells
plant "watching: lengths where the model is" $S/lens/look.py 's/self.projection\(\).to\(self.source.device\)/self.projection()/' tests tests/lens/test_norms.py
plant "watching: a trace counts heads anew" $S/lens/recorded.py 's/\[head.head for head in heads\]/list(range(len(heads)))/' $RECORDED
plant "watching: a trace is asked for the head by its number" $S/visuals/heads.py 's/\]\)\.index\(head.head\)/]) and head.head/' $RECORDED

OURS="tests tests/lens/test_watch_our_beams.py"
SEEING="tests tests/cli/test_see.py"

plant "watching: our searches do not say where rows went" $S/models/decoder.py 's/^        tell_moved\(.*//' $OURS
plant "watching: what a search returned is not told" $S/tasks/translating.py 's/^        tell_returned\(.*//' $OURS
plant "watching: several texts are joined all the same" $W/keeper.py 's/beams.scattered \|= .*/pass/' $OURS
plant "watching: another model's rows are ours" $W/keeper.py 's/ and decodes is self.decodes//' $OURS
plant "watching: parts of a layer are layers" $W/foreign_sites.py 's/ or path.startswith\(tuple\(stacks\)\)//' tests tests/lens/test_flow.py
plant "watching: a family that asks the table is on the list" $W/foreign_sites.py 's/autoformer bark/bert autoformer bark/' tests tests/lens/test_refused_families.py
plant "watching: a row's scale is forgotten" $S/lens/questions/scores.py 's/(q_BhrD = .*) \* request.scale/\1/' tests tests/lens/test_questions.py
plant "seeing: more keys are said than are drawn" $S/visuals/terminal/seeing.py 's/format\(top=shown\)/format(top=self.trace.about["top"])/' $SEEING
plant "seeing: rows that are not there are shown" $S/cli/see.py 's/^    refuse_no_rows\(.*//' $SEEING
plant "seeing: a record of attention is an explanation" $S/cli/explain.py 's/if trace.kind != "explanation":/if False:/' $SEEING
