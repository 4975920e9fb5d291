# Plants in traces, in `explain`, and in how an explanation is drawn. Run by tests/planted_bugs.sh,
# which brings `plant`, `tests` and $S.

X=$S/lens/explanation
L=tests/lens
W=$S/visuals

plant "explain: trace: an array loses its layout" $S/traces/disk.py 's/np.require\(values, requirements="C"\)/values.ravel()/' tests tests/traces
plant "explain: trace: a single number gets an axis" $S/traces/disk.py 's/np.require\(values, requirements="C"\)/np.ascontiguousarray(values)/' tests tests/traces
plant "explain: trace: newer formats are read anyway" $S/traces/disk.py 's/if header\["format"\] > FORMAT:/if False:/' tests tests/traces
plant "explain: trace: something is left beside" $S/traces/disk.py 's/beside.replace\(path\)/path.write_bytes(beside.read_bytes())/' tests tests/traces
plant "explain: trace: labels may be too few" $S/traces/trace.py 's/len\(self.labels\[axis\]\) != size/False/' tests tests/traces
plant "explain: trace: notes are lost" $S/traces/trace.py 's/notes=\[Note\(.*/notes=[],/' tests tests/traces

plant "explain: scores are not scaled" $X/steps.py 's/request.scale \* scores_TS/scores_TS/' tests $L/test_explain_examples.py
plant "explain: scores are scaled twice" $X/steps.py 's/scores_TS = q_TD @ k_SD.T/scores_TS = request.scale * q_TD @ k_SD.T/' tests $L/test_explain_examples.py
plant "explain: softcap is forgotten" $X/steps.py 's/if request.scores.softcap is not None:/if False:/' tests $L/test_explain_models.py -k what_the_layer_did
plant "explain: the bias of another head" $X/steps.py 's/everywhere\[0, head\]/everywhere[0, 0]/' tests $L/test_explain_models.py -k what_the_layer_did
plant "explain: the key head of another query head" $X/steps.py 's/return head \/\/ .*/return 0/' tests $L/test_explain_models.py -k 'what_the_layer_did or shares'
plant "explain: query heads take turns at key heads" $X/steps.py 's/return head \/\/ .*/return head % request.k_BGSD.shape[1]/' tests $L/test_explain_models.py -k 'what_the_layer_did or shares'
plant "explain: the mask the wrong way round" $X/steps.py 's/masked_fill\(~allowed_TS/masked_fill(allowed_TS/' tests $L/test_explain_models.py -k what_the_layer_did
plant "explain: the mixed values of another head" $X/steps.py 's/exact.values_BHTE\[0, head\]/exact.values_BHTE[0, 0]/' tests $L/test_explain_models.py -k what_the_layer_did
plant "explain: positions are not added" $X/products.py 's/inputs_TM = inputs_TM \+ .*/pass/' tests $L/test_explain_examples.py
plant "explain: the output projection is left out" $X/products.py 's/output_TM = output_TM @ .*/pass/' tests $L/test_explain_examples.py
plant "explain: a written mask is not heard" $X/products.py 's/Causal\(\) if given.mask == "causal" else Everything\(\)/Everything()/' tests $L/test_explain_matrices.py
plant "explain: heads take turns in the columns" $X/products.py 's/projected_TN.chunk\(given.heads, dim=1\)/[projected_TN[:, h :: given.heads] for h in range(given.heads)]/' tests $L/test_explain_matrices.py
plant "explain: ragged rows pass" $X/matrices.py 's/if len\(widths\) > 1:/if False:/' tests $L/test_explain_matrices.py
plant "explain: not-a-number passes" $X/matrices.py 's/all\(isfinite\(number\) for/all(True for/' tests $L/test_explain_matrices.py
plant "explain: positions beside inputs pass" $X/matrices.py 's/        if self.inputs is not None:/        if False:/' tests $L/test_explain_matrices.py
plant "explain: positions move with the tokens" $X/examples.py 's/X_TM\[order\] \+ P_TM/(X_TM + P_TM)[order]/' tests $L/test_explain_examples.py
plant "explain: another table of colours" $X/examples.py 's/TABLE = \(\(1.0, 0.0/TABLE = ((0.5, 0.0/' tests $L/test_explain_examples.py
plant "explain: embeddings without their scale" $X/network.py 's/ \* words.spec.scale//' tests $L/test_explain_models.py -k encoder_decoder
plant "explain: the residual before the norm" $X/network.py 's/parts\["own_norm"\].given/parts["own_norm"].made/' tests $L/test_explain_models.py -k lead
plant "explain: keys named after queries" $X/network.py 's/asked.source if is_cross else queries/queries/' tests $L/test_explain_models.py -k encoder_decoder
plant "explain: everything agrees" $X/agreement.py 's/\(off_TM <= allowed_TM\).all\(\)/True/' tests $L/test_explain_models.py -k found_out
plant "explain: rounding is not counted" $X/agreement.py 's/unit = torch.finfo.*/unit = 1e-9/' tests $L/test_explain_models.py -k 'what_the_layer_did or half'
plant "explain: dropout stays on" $X/watched.py 's/    network.eval\(\)/    pass/' tests $L/test_explain_models.py
plant "explain: nothing trains afterwards" $X/watched.py 's/part.training = training/pass/' tests $L/test_explain_models.py -k left_as_it_was
plant "explain: hooks stay" $X/watched.py 's/            handle.remove\(\)/            pass/' tests $L/test_explain_models.py -k left_as_it_was
plant "explain: the first of several tokens is taken" $X/picks.py 's/if len\(places\) > 1:/if False:/' tests $L/test_explain_models.py -k cannot
plant "explain: a negative layer" $X/sites.py 's/if wanted not in own:/if False:/' tests $L/test_explain_models.py -k place_that
plant "explain: the decoder starts with its text" $X/given.py 's/    if start is None:/    if True:/' tests $L/test_explain_models.py -k 'decoder'
plant "explain: settings without effect pass" $X/door.py 's/if value is not None:/if False:/' tests $L/test_explain_examples.py

plant "explain: a sentence is missing in Chinese" $W/words/chinese.py 's/^    "turned":.*//' tests tests/visuals
plant "explain: a fact is missing in Chinese" $W/words/chinese.py 's/\{forbidden\} 对不许看/几对不许看/' tests tests/visuals
plant "explain: a note without a sentence" $X/network.py 's/"from_memory"/"from_elsewhere"/' tests $L/test_explain_words.py
plant "explain: lines too wide" $W/terminal/excerpt.py 's/room - len\(f" … \+\{count\}"\)/room + 9/' tests tests/visuals
plant "explain: text too wide" $W/terminal/wrapped.py 's/used \+ size > width/used > width/' tests tests/visuals
plant "explain: a blind query gathers from nowhere" $W/terminal/show.py 's/if seen else "end_blind"/if True else ""/' tests tests/visuals
plant "explain: what is left out is not added up" $W/terminal/show.py 's/weights.sum\(\) - weights\[top\].sum\(\)/weights[top].sum()/' tests tests/visuals
plant "explain: infinity in JSON" $W/steps.py 's/if np.isfinite\(values\).all\(\):/if True:/' tests tests/visuals
plant "explain: a line that is not true" $W/worked.py 's/if not np.isclose\(left @ right.*/if False:/' tests tests/visuals
plant "explain: small numbers are nothing" $W/numbers.py 's/NOTHING = 1e-12/NOTHING = 1e-3/' tests tests/visuals
plant "explain: bars are not exact" $W/terminal/bars.py 's/round\(share \* cells \* 8\)/round(share * cells) * 8/' tests tests/visuals
plant "explain: the language of the terminal is not asked" $S/cli/terminal.py 's/asked or spoken\(os.environ\)/asked or "en"/; s/return "zh" if .*/return "en"/' tests $L/test_explain_command.py
plant "explain: a menu before JSON" $S/cli/explain.py 's/if not asked and not as_json:/if not asked:/' tests $L/test_explain_command.py
plant "explain: visuals meet torch" $W/steps.py '+import torch' tests $L/test_explain_command.py -k without_torch
plant "explain: a snippet of the mistakes fails" docs/mistakes.md 's/assert twice\[0\] < 0.48/assert twice[0] > 0.48/' tests tests/docs
