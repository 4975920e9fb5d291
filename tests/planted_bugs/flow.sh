# Plants in what a position took through all layers, and in lengths. Run by tests/planted_bugs.sh,
# which brings `plant`, `tests` and $S.

P=$S/lens/flow
FLOW="tests tests/lens/test_flow.py"
NORMS="tests tests/lens/test_norms.py"
WAY="tests tests/lens/test_integrated.py"

plant "flow: a token keeps nothing of itself" $P/rollout.py 's/return stays_BT \+ taken_BS/return taken_BS/' $FLOW
plant "flow: a sink's share is lost" $P/rollout.py 's/\(1 \+ mass_BT\)/2/' $FLOW
plant "flow: from the first layer to the last" $P/rollout.py 's/in reversed\(looks\)/in looks/' $FLOW
plant "flow: cross-attention before self-attention" $P/rollout.py 's/in reversed\(layers.decoder\)/in layers.decoder/' $FLOW
plant "flow: sentences and their translations are mixed up" $P/rollout.py 's/view\(looks\[0\].shape\[0\], -1, own_BT.shape\[1\]\)/view(-1, looks[0].shape[0], own_BT.shape[1]).transpose(0, 1)/' $FLOW
plant "flow: padding is the last token" $P/layers.py 's/real if place < 0 else/range(queries) if place < 0 else/' $FLOW
plant "flow: padding may be asked about" $P/layers.py 's/ or counted\[place\] not in real//' $FLOW
plant "flow: what came before watching is left out" $P/layers.py 's/and queries != keys/and queries > keys/' $FLOW
plant "flow: a layer without attention is passed over" $P/layers.py 's/\[\*other, \*without\]/[*other]/' $FLOW
plant "flow: a share that is nothing counts" $P/products.py 's/NOTHING = 200.0/NOTHING = 0.0/' tests tests/lens/test_fused.py
plant "flow: what pulls down counts as well" $P/products.py 's/.clamp_\(min=0\)//' $FLOW
plant "flow: heads are added up" $P/products.py 's/ \/ source.sizes\[1\]//' $FLOW
plant "flow: groups of heads take each other's values" $P/products.py 's/repeat_interleave\(self.shared, dim=1\)/repeat(1, self.shared, 1, 1)/' $FLOW
plant "flow: rows are not made whole" $P/relevance.py 's/return torch.where\(sums_BT > 0, sums_BT, 1.0\)/return torch.ones_like(sums_BT)/' $FLOW
plant "flow: the target's later layers count too" $P/relevance.py 's/own\[: number \+ 1\]/own/' $FLOW
plant "flow: the encoder's rows are not made whole" $P/relevance.py 's/of.normed_down\((.*), read_BS\)/read_BS + of.down(\1, read_BS)/' $FLOW
plant "flow: two runs count as one" $P/run_once.py 's/len\(runs\) == 1 and/bool(runs) and/' $FLOW
plant "norms: groups of heads take each other's values" $S/lens/questions/norms.py 's/head \/\/ shared/head % v_BGSE.shape[1]/' $NORMS
plant "norms: heads add up their lengths" $S/lens/questions/norms.py 's/\(joined_BrcN @ projection_NM\).norm\(dim=-1\)/joined_BrcN.norm(dim=-1)/' $NORMS
plant "norms: GPT-2's projection the wrong way round" $S/lens/output.py 's/== "Conv1D"/== "Turned"/' $NORMS
plant "norms: heads are counted anew" $S/lens/output.py 's/if numbers is None else weight_HEM\[list\(numbers\)\]/if True else weight_HEM/' $NORMS
plant "integrated: the gradient alone" $P/integrated.py 's/gradient \* span\)/gradient)/' $WAY
plant "integrated: the way is twice as long" $P/integrated.py 's/float\(weight\) \/ 2/float(weight)/' $WAY
plant "integrated: no baseline but zero" $P/integrated.py 's/if self.baseline is None:/if True:/' $WAY
plant "integrated: a gap is not said" $P/integrated.py 's/> MUCH \* abs/> 1e9 + abs/' $WAY
