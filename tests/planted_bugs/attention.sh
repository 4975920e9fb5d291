# Plants in the mechanism. Run by tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

A=$S/attention
K=$A/kernels
T=tests/attention
SAME="tests $T/test_kernel_conformance.py -k"

# The definition and the kernels
plant "definition: no bias" $A/reference.py 's/scores_BHTS \+ bias.double\(\)/scores_BHTS/' tests $T/test_reference.py
plant "definition: the cap does not stretch back" $A/reference.py 's/cap \* torch.tanh/torch.tanh/' tests $T/test_reference.py
plant "definition: blind rows are not a number" $A/reference.py 's/weights_BHTS.masked_fill\(~allowed_B1TS, 0.0\)/weights_BHTS/' $SAME 'values and explicit and blind'
plant "explicit: groups in another order" $K/explicit.py 's/request.k_BGSD.repeat_interleave\(group_size, dim=1\)/request.k_BGSD.repeat(1, group_size, 1, 1)/' $SAME 'values and explicit and group'
plant "explicit: a blind row sees all" $K/explicit.py 's/weights_BHTS.masked_fill\(~allowed_B1TS, 0.0\)/weights_BHTS/' $SAME 'values and explicit and blind'
plant "explicit: weights dropped in silence" $K/explicit.py 's/weights_BHTS=weights_BHTS if request.wants_weights else None/weights_BHTS=None/' $SAME weights
plant "explicit: weights shown after dropout" $K/explicit.py 's/weights_BHTS=weights_BHTS if/weights_BHTS=dropped_BHTS if/' tests $T/test_dropout.py
plant "explicit: no dropout" $K/explicit.py 's/if request.dropout else weights_BHTS/if False else weights_BHTS/' tests $T/test_dropout.py
plant "explicit: float64 passes through float32" $K/explicit.py 's/torch.promote_types\(request.q_BHTD.dtype, torch.float32\)/torch.float32/' $SAME 'values and explicit and float64'
plant "explicit: sinks give values" $K/explicit.py 's/\.softmax\(dim=-1\)\[\.\.\., : request.keys\]/[..., : request.keys].softmax(dim=-1)/' $SAME 'values and explicit and sinks'
plant "sdpa: no scale" $K/sdpa.py 's/scale=request.scale/scale=1.0/' $SAME 'values and sdpa and scale'
plant "sdpa: the mask turned round" $K/sdpa.py 's/torch.where\(allowed_B1TS, bias, -torch.inf\)/torch.where(allowed_B1TS, -torch.inf, bias)/' $SAME 'values and sdpa and padding'
plant "sdpa: causal forgets the bias" $K/sdpa.py 's/causal = kind == "causal" and request.scores.bias is None/causal = kind == "causal"/' $SAME 'values and sdpa and buckets'
plant "sdpa: padded values stay" $K/sdpa.py 's/values_alone\(call\)\[\.\.\., :width\]/values_alone(call)/' $SAME 'values and sdpa and narrow'
plant "sdpa: softcap dropped in silence" $K/sdpa.py '/it has no softcap/d' $SAME 'refuses and sdpa'
plant "sdpa: a scale below 0 is taken" $K/sdpa.py '/above 0 only/d' $SAME 'refuses and sdpa'
plant "blocks: half a tile counts as a whole" $K/blocks.py 's/every\[some\]\.all\(\)/every[some].any()/' $SAME 'values and blocks and tiles'
plant "blocks: only keys that all examples see" $K/blocks.py 's/verdict.some.any\(0\)/verdict.some.all(0)/' $SAME 'values and blocks and tiles'
plant "blocks: every tile has the first tile's bias" $K/blocks.py 's/\[:, :, start:end\]/[:, :, : end - start]/' $SAME 'values and blocks and tiles'
plant "blocks: keys start at 0" $K/blocks.py 's/\[chosen\] \+ request.first/[chosen]/' $SAME 'values and blocks and later'
plant "blocks: a row of blind tiles is left out" $K/blocks.py '/some_RC\[:, 0\] \|=/d' $SAME 'values and blocks and blind'
plant "flex: the bias counts rows from 0" $K/flex.py 's/bias.at\(head, row \+ row_shift/bias.at(head, row/' $SAME 'values and flex and slopes'
plant "flex: the mask counts keys from 0" $K/flex.py 's/sees\(batch, row \+ row_shift, column \+ first\)/sees(batch, row + row_shift, column)/' $SAME 'values and flex and later'
plant "flex: unwanted tiles first" $K/flex.py 's/descending=True/descending=False/' tests $T/test_flex_compiled.py -k visits
plant "flex: some tiles twice" $K/flex.py 's/_ordered\(verdict.some & ~verdict.every\)/_ordered(verdict.some)/' tests $T/test_flex_compiled.py -k visits
plant "flex: sinks on a CPU dropped in silence" $K/flex.py '/no lse to add sinks to/d' $SAME 'refuses and flex'
plant "flex: a gradient on a CPU is promised" $K/flex.py '/on a CPU it has no gradient/d' $SAME 'refuses and flex'
plant "varlen: runs on a CPU" $K/varlen.py '/it runs on CUDA only/d' $SAME 'says_so'
plant "a learned slope is not known to train" $A/contract.py 's/return any\(_trains\(part\) for part in vars\(value\).values\(\)\)/return False/' $SAME 'anything_that_goes_in'

# torch's own kernels
plant "fused: causal is forgotten" $A/fused.py '0,/call.causal,/! {0,/call.causal,/ s/call.causal,/False,/}' tests $T/test_fused.py -k 'same_bits and causal'
plant "fused: the mask is forgotten" $A/fused.py 's/attn_mask=call.mask,$/attn_mask=None,/' tests $T/test_fused.py -k 'plain_path or same_bits'
plant "fused: always flash" $A/fused.py 's/return BACKENDS\[number\]/return SDPBackend.FLASH_ATTENTION/' tests $T/test_fused.py -k plain_path

# Masks and biases
plant "window: off by one to the right" $A/rules.py 's/\(ahead <= self.right\)/(ahead < self.right)/' tests $T/test_masks.py
plant "window: off by one to the left" $A/rules.py 's/\(ahead >= -self.left\)/(ahead > -self.left)/' tests $T/test_masks.py
plant "window: a tile at its edge is skipped" $A/rules.py 's/\(highest >= -self.left\)/(highest > -self.left)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "window: a tile at its edge is whole" $A/rules.py 's/\(highest <= self.right\)/(highest <= self.right + 1)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "window: full one key too early" $A/rules.py 's/self.left < keys - 1/self.left < keys - 2/' tests $T/test_mask_verdicts.py -k 'kind or full'
plant "window: full one query too early" $A/rules.py 's/self.right >= queries - 1/self.right >= queries - 2/' tests $T/test_mask_verdicts.py -k 'kind or full'
plant "causal: with a cache too" $A/rules.py 's/ and queries == keys else None/ else None/' tests $T/test_mask_verdicts.py -k 'kind or full'
plant "window: density without the query's own key" $A/rules.py 's/\(self.left \+ self.right \+ 1\)/(self.left + self.right)/' tests $T/test_mask_verdicts.py -k 'dens or sparse'
plant "windows: the wider of two" $A/rules.py 's/else min\(one, two\)/else max(one, two)/' tests $T/test_masks.py
plant "padding: one key too many" $A/rules.py 's/\(column < self.lengths_B\[batch\]\)/(column <= self.lengths_B[batch])/' tests $T/test_masks.py
plant "padding: a tile too early is skipped" $A/rules.py 's/\(tiles.right >= starts\)/(tiles.right > starts)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "documents: only tiles that start alike" $A/rules.py 's/\(low_r <= high_c\) & \(low_c <= high_r\)/(low_r == low_c)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "documents: queries numbered as keys are" $A/rules.py 's/row - \(self.columns_BS.shape\[1\] - self.rows_BT.shape\[1\]\)/row/' tests $T/test_masks.py
plant "documents: spans mixed up between examples" $A/rules.py 's/shape = \(len\(ids_BN\), \*\(1,\) \* \(2 - low.dim\(\)\), \*low.shape\)/shape = (len(ids_BN), *low.shape)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "documents: a later start is not minded" $A/rules.py 's/\(batch, first \+ keys\)/(batch, keys)/' tests $T/test_mask_refusals.py
plant "blocks rule: density of the whole layout" $A/rules.py 's/self.share \* rows \* columns \/ max\(queries \* keys, 1\)/self.share/' tests $T/test_mask_verdicts.py -k dens
plant "global: rows only" $A/rules.py 's/allowed \| of_rows \| of_columns/allowed | of_rows/' tests $T/test_masks.py
plant "not: tiles as they were" $A/masks.py 's/Verdict\(~verdict.every, ~verdict.some\)/Verdict(~verdict.some, ~verdict.every)/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "and: whole where one is whole" $A/masks.py 's/one.every & two.every/one.every | two.every/' tests $T/test_masks.py $T/test_mask_verdicts.py -k tile
plant "or: density of the sparser" $A/masks.py 's/return min\(1.0, self.first.density\(queries, keys\) \+ self.second.density\(queries, keys\)\)/return self.first.density(queries, keys)/' tests $T/test_mask_verdicts.py -k 'dens or sparse'
plant "queries aligned with the first key" $A/masks.py 's/rows_T1 = torch.arange\(first \+ keys - queries, first \+ keys,/rows_T1 = torch.arange(first, first + queries,/' tests $T/test_masks.py
plant "a rule remembers the wrong place" $A/masks.py 's/place = \(batch, queries, keys, first, device\)/place = (batch, queries, keys, device)/' tests $T/test_masks.py
plant "slopes reward distance" $A/bias.py 's/return -self.slopes_H/return self.slopes_H/' tests $T/test_bias.py
plant "buckets without an end" $A/bias.py 's/\.clamp\(max=count - 1\)//' tests $T/test_bias.py
plant "buckets: both sides alike" $A/bias.py 's/\(ahead > 0\)\.long\(\) \* count/(ahead > 0).long() * 0/' tests $T/test_bias.py

# The front door
plant "attend: nobody hears an lse" $A/attend.py 's/wants_lse=bool\(WATCHERS\)/wants_lse=False/' tests $T/test_announce.py -k brings
plant "attend: every site has the same name" $A/attend.py 's/site=site.name/site="attend"/' tests $T/test_announce.py
plant "announce: every thread hears" $A/announce.py 's/in HEARD_HERE.get\(\)/in WATCHERS/' tests $T/test_announce.py -k thread
plant "announce: watchers stay" $A/announce.py 's/WATCHERS.remove\(watcher\)/pass/' tests $T/test_announce.py
plant "contract: any number of axes" $A/contract.py 's/x.dim\(\) != 4/False/' tests $T/test_attend.py
plant "contract: no remedy for heads" $A/contract.py 's/ Try \{choice\} heads\.//' tests $T/test_attend.py
plant "contract: booleans as a bias" $A/contract.py 's/if not bias.dtype.is_floating_point:/if False:/' tests $T/test_attend.py
plant "contract: any number of sinks" $A/contract.py 's/if sinks is not None and .*/if False:/' tests $T/test_attend.py
plant "contract: a dropout of 1" $A/contract.py 's/0.0 <= request.dropout < 1.0/0.0 <= request.dropout <= 1.0/' tests $T/test_attend.py
plant "choose: no suggestion" $A/choose.py 's/\{nearest\(name, KERNELS\)\}//' tests $T/test_attend.py
plant "choose: nothing is sparse" $A/choose.py 's/^SPARSE = 0.25/SPARSE = 0.0/' tests $T/test_choose.py
plant "choose: compile for one query" $A/choose.py 's/^WORTH_COMPILING = 256/WORTH_COMPILING = 0/' tests $T/test_choose.py
plant "choose: no word on who was passed over" $A/choose.py 's/, \*refusals\]/]/' tests $T/test_choose.py
