# Plants in positions, caches, heads, layers and skeletons. Run by tests/planted_bugs.sh, which
# brings `plant`, `tests` and $S.

A=$S/attention
P=$A/positions
POSITIONS=tests/attention/test_positions.py
CACHES=tests/attention/test_caches.py
HEADS=tests/attention/test_multihead.py

plant "models: positions: sine and cosine change places" $P/sinusoidal.py 's/found\[\.\.\., 0::2\], found\[\.\.\., 1::2\] = both/found[..., 1::2], found[..., 0::2] = both[1], both[0]/; s/both = \(angles.sin\(\), angles.cos\(\)/both = (angles.cos(), angles.sin()/' tests $POSITIONS
plant "models: positions: waves half as long" $P/sinusoidal.py 's/2 \* pairs \/ width/pairs \/ width/' tests $POSITIONS
plant "models: positions: halves are interleaved" $P/sinusoidal.py 's/if spec.layout == "halves":/if False:/' tests $POSITIONS
plant "models: positions: the table never grows" $P/sinusoidal.py 's/ or longest > len\(table\)//; s/max\(512, 2 \* longest\)/max(512, longest)/' tests $POSITIONS
plant "models: positions: a table worked out every time" $P/sinusoidal.py 's/if table is None or/if True or/' tests $POSITIONS
plant "models: positions: waves have no end" $P/sinusoidal.py 's/longest > self.spec.length:/longest > self.spec.length + 1:/' tests $POSITIONS
plant "models: positions: the offset is forgotten" $P/learned.py 's/positions \+ self.spec.offset/positions/' tests $POSITIONS
plant "models: positions: one position too many" $P/learned.py 's/longest > self.spec.length:/longest > self.spec.length + 1:/' tests $POSITIONS
plant "models: positions: a turn the other way" $P/rotary.py 's/\[-high, low\]/[high, -low]/' tests $POSITIONS
plant "models: positions: keys turned by another pairing" $P/rotary.py 's/low, high = x_BHTD.chunk\(2, dim=-1\)/low, high = x_BHTD[..., 0::2], x_BHTD[..., 1::2]/' tests $POSITIONS
plant "models: positions: linear scaling is forgotten" $P/rotary.py 's/return plain \/ scaling.factor$/return plain/' tests $POSITIONS
plant "models: positions: the ramp of Llama 3 upside down" $P/rotary.py 's/\(1 - ramp\) \* plain \/ scaling.factor \+ ramp \* plain/ramp * plain \/ scaling.factor + (1 - ramp) * plain/' tests $POSITIONS
plant "models: positions: the whole head is turned" $P/rotary.py 's/int\(width \* spec.share\)/width/' tests $POSITIONS
plant "models: positions: angles in half precision" $P/rotary.py 's/positions\[\.\.\., None\].float\(\) \* speeds/positions[..., None].to(dtype) * speeds.to(dtype)/' tests $POSITIONS
plant "models: positions: odd widths are turned" $P/rotary.py 's/if turned < 2 or turned % 2:/if False:/' tests $POSITIONS
plant "models: positions: slopes of 12 heads in a row" $P/alibi.py 's/range\(0, 2 \* power, 2\)/range(power)/' tests $POSITIONS
plant "models: positions: the slopes of twice the heads" $P/alibi.py 's/-8 \* \(head/-4 * (head/' tests $POSITIONS
plant "models: positions: far buckets begin too late" $A/bias.py 's/near = count \/\/ 2/near = count \/\/ 2 + 1/' tests $POSITIONS -k buckets
plant "models: positions: before and after share buckets" $A/bias.py 's/side = \(ahead > 0\).long\(\) \* count if/side = (ahead > 0).long() * 0 if/' tests $POSITIONS -k buckets

plant "models: caches: growing forgets" $A/caches/growing.py 's/\[self.held.k_BGSD, k_BGTD\]/[self.held.k_BGSD[:, :, -9:], k_BGTD]/; s/\[self.held.v_BGSE, v_BGTE\]/[self.held.v_BGSE[:, :, -9:], v_BGTE]/' tests $CACHES
plant "models: caches: static shows what is still empty" $A/caches/static.py 's/return Held\(.*/return Held(self.room.k_BGSD, self.room.v_BGSE)/' tests $CACHES
plant "models: caches: static overflows in silence" $A/caches/static.py 's/if end > self.capacity:/if False:/' tests $CACHES
plant "models: caches: static has values as wide as keys" $A/caches/static.py 's/self._empty\(v_BGTE\)/self._empty(k_BGTD)/' tests $CACHES
plant "models: caches: rolling keeps one too few" $A/caches/rolling.py 's/keep=min\(self.kept, self.window - 1\)/keep=max(0, min(self.kept, self.window - 2))/' tests $CACHES
plant "models: caches: rolling does not say where it starts" $A/caches/rolling.py 's/first=self.length - \(end - start\)/first=0/' tests $CACHES
plant "models: caches: a long piece forgets what it followed" $A/caches/rolling.py 's/self.room.k_BGSD\[:, :, : self.kept\], k_BGTD\]/self.room.k_BGSD[:, :, :0], k_BGTD]/; s/self.room.v_BGSE\[:, :, : self.kept\], v_BGTE\]/self.room.v_BGSE[:, :, :0], v_BGTE]/' tests $CACHES
plant "models: caches: a long piece leaves its beginning" $A/caches/rolling.py 's/k\[:, :, -self.window :\]/k[:, :, : self.window]/' tests $CACHES
plant "models: caches: room for three windows" $A/caches/rolling.py 's/2 \* self.window/3 * self.window/g' tests $CACHES
plant "models: caches: rolling keeps nothing" $A/caches/rolling.py 's/if window < 1:/if False:/' tests $CACHES
plant "models: caches: positions begin anew at every step" $S/models/decoder.py 's/past=past.length if past is not None else 0/past=0/' tests $CACHES
plant "models: caches: the memory is another one at every step" $S/models/decoder.py 's/        if not held:/        if held is not None:/' tests tests/models/test_skeletons.py

plant "models: heads: keys and values change places" $A/multihead.py 's/q_BHTD, k_BGTD, v_BGTD = torch.split/q_BHTD, v_BGTD, k_BGTD = torch.split/' tests $HEADS
plant "models: heads: the memory's keys and values change places" $A/multihead.py 's/k_BGSD, v_BGSD = packed.chunk/v_BGSD, k_BGSD = packed.chunk/' tests $HEADS
plant "models: heads: queries are not normed" $A/multihead.py 's/q_BHTD, k_BGTD = self.query_norm\(q_BHTD\), /q_BHTD, k_BGTD = q_BHTD, /' tests $HEADS
plant "models: heads: cross queries are not normed" $A/multihead.py 's/q_BHTD if self.query_norm is None else self.query_norm\(q_BHTD\)/q_BHTD/' tests $HEADS
plant "models: heads: scale is forgotten" $A/multihead.py 's/Scores\(scale=spec.scale, /Scores(/' tests $HEADS
plant "models: heads: softcap is forgotten" $A/multihead.py 's/softcap=spec.softcap/softcap=None/' tests $HEADS
plant "models: heads: joined across heads" $A/multihead.py 's/values_BHTE.transpose\(1, 2\).flatten\(2\)/values_BHTE.permute(0, 2, 3, 1).flatten(2)/' tests $HEADS
plant "models: heads: dropout while running" $A/multihead.py 's/self.dropout if self.training else None/self.dropout/' tests $HEADS
plant "models: heads: the mask of cross-attention is lost" $A/multihead.py 's/            mask=mask,//' tests $HEADS
plant "models: heads: sites count from one" $S/models/stack.py 's/site=f"\{name\}.\{layer\}"/site=f"{name}.{layer + 1}"/' tests $HEADS
plant "models: heads: cross is announced as self" $S/layers/block.py 's/f"\{site\}.cross"/f"{site}.self"/' tests $HEADS tests/layers/test_block.py
plant "models: heads: any number divides" $A/multihead.py 's/if self.heads % self.key_value_heads:/if False:/' tests $HEADS
plant "models: heads: no heads at all" $A/multihead.py 's/if min\(self.heads, self.key_value_heads, self.head_width\) < 1:/if False:/' tests $HEADS

L=tests/layers
plant "models: layers: rms is layer" $S/layers/norm.py 's/if spec.form == "rms":/if False:/' tests $L
plant "models: layers: epsilon is forgotten" $S/layers/norm.py 's/LayerNorm\(width, eps=spec.epsilon\)/LayerNorm(width)/' tests $L
plant "models: layers: the gate is not bent" $S/layers/feed_forward.py 's/self.bend\(gate_BTF\) \* inputs_BTF/gate_BTF * self.bend(inputs_BTF)/' tests $L
plant "models: layers: gelu by another formula" $S/layers/activation.py 's/approximate="tanh"/approximate="none"/' tests $L
plant "models: layers: no dropout in the middle" $S/layers/feed_forward.py 's/self.dropout\(self.bend\(self.inputs\(x_BTM\)\)\)/self.bend(self.inputs(x_BTM))/' tests $L
plant "models: layers: positions are scaled too" $S/layers/words.py 's/x_BTM = x_BTM \* self.spec.scale/pass/; s/return x_BTM if self.project/x_BTM = x_BTM * self.spec.scale; return x_BTM if self.project/' tests $L
plant "models: layers: the norm before the types" $S/layers/words.py 's/x_BTM = x_BTM \+ \(self.types.weight\[0\] if types_BT is None else self.types\(types_BT\)\)/x_BTM = (self.norm or nn.Identity())(x_BTM) + (self.types.weight[0] if types_BT is None else self.types(types_BT))/' tests $L
plant "models: layers: types left out are left out" $S/layers/words.py 's/self.types.weight\[0\] if types_BT is None/0.0 if types_BT is None/' tests $L
plant "models: layers: fresh words are of size one" $S/layers/words.py 's/std=spec.width\*\*-0.5/std=1.0/' tests $L
plant "models: layers: ids are not looked at" $S/layers/words.py 's/high if high >= count else None/None/' tests $L
plant "models: layers: ids below zero pass" $S/layers/words.py 's/low if low < 0 else high/high/' tests $L
plant "models: layers: types are not looked at" $S/layers/words.py 's/None if types_BT is None else _outside\(types_BT, types\)/None/' tests $L
plant "models: layers: types for a model without" $S/layers/words.py 's/if types_BT is not None and self.types is None:/if False:/' tests $L
plant "models: layers: patches column by column" $S/layers/patches.py 's/self.squares\(pixels_BCYX\).flatten/self.squares(pixels_BCYX).mT.flatten/' tests $L
plant "models: layers: special tokens behind" $S/layers/patches.py 's/\[specials_B1M, squares_BTM\]/[squares_BTM, specials_B1M]/' tests $L
plant "models: layers: pictures of any size" $S/layers/patches.py 's/if tuple\(pixels_BCYX.shape\[1:\]\) != wanted:/if False:/' tests $L
plant "models: layers: the sound is not bent twice" $S/layers/frames.py 's/gelu\(self.halve\((.*)\)\)$/self.halve(\1)/' tests $L
plant "models: layers: sounds of any length" $S/layers/frames.py 's/ or \(length \+ 1\) \/\/ 2 > self.spec.length//' tests $L
plant "models: layers: the residual from the norm" $S/layers/block.py 's/after_BTM = x_BTM \+ self.dropout\(half\(self.norm\(x_BTM\)\)\)/after_BTM = self.norm(x_BTM) + self.dropout(half(self.norm(x_BTM)))/' tests $L
plant "models: layers: the norm on one half only" $S/layers/block.py 's/self.norm\(x_BTM \+ self.dropout\(half\(x_BTM\)\)\)/x_BTM + self.norm(self.dropout(half(x_BTM)))/' tests $L
plant "models: layers: cross before self" $S/layers/block.py 's/^        x_BTM = self.attention_residual.*/        y_BTM = x_BTM; x_BTM = y_BTM/; s/^        after_BTM: Tensor = self.feed/        x_BTM = self.attention_residual(x_BTM, lambda x: self.attention(x, scene, cache))\n        after_BTM: Tensor = self.feed/' tests $L
plant "models: layers: the first token, padding or not" $S/layers/outputs.py 's/    if starts_B is None:/    if True:/' tests $L
plant "models: layers: scores are not scaled" $S/layers/outputs.py 's/if self.spec.scale != 1.0:/if False:/' tests $L
plant "models: layers: masked words without their bias" $S/layers/outputs.py 's/\(self.through\(hidden_BTM\)\)\), words_VM, self.bias\)/(self.through(hidden_BTM))), words_VM)/' tests $L
plant "models: layers: tied to embeddings of another size" $S/layers/words.py 's/if \(words.vocabulary, words.width\) != \(vocabulary, width\):/if False:/' tests $L

M=tests/models
SEES=$M/test_who_sees_what.py
plant "models: skeletons: a decoder sees ahead" $S/models/places.py 's/\[Causal\(\)\] if causal else \[\]/[]/' tests $SEES
plant "models: skeletons: an encoder sees the past only" $S/models/encoder.py 's/causal=False/causal=True/' tests $SEES
plant "models: skeletons: padding is seen" $S/models/places.py 's/rules.append\(Padding\(lengths_B, starts_B\)\)/pass/' tests $SEES
plant "models: skeletons: padding on the left is seen" $S/models/places.py 's/Padding\(lengths_B, starts_B\)/Padding(lengths_B, None)/' tests $SEES
plant "models: skeletons: positions count the padding" $S/models/places.py 's/begins = None if starts_B is None else starts_B\[:, None\]/begins = None/' tests $SEES
plant "models: skeletons: documents see each other" $S/models/places.py 's/rules.append\(Documents\(documents_BT\)\)/pass/' tests $SEES
plant "models: skeletons: documents go on counting" $S/models/places.py 's/    if documents_BT is not None:/    if False:/' tests $SEES
plant "models: skeletons: the first document counts the padding" $S/models/places.py 's/torch.maximum\(begins, document_BT\)/document_BT/' tests $SEES
plant "models: skeletons: positions are not heard" $S/models/places.py 's/    if positions_BT is not None:/    if False:/' tests $SEES
plant "models: skeletons: the source's padding is seen" $S/models/encoder_decoder.py 's/source_lengths_B, source_starts_B, source_documents_BS, target/None, None, source_documents_BS, target/' tests $SEES
plant "models: skeletons: pairs read each other's source" $S/models/encoder_decoder.py 's/documents = Documents\(.*/documents = None/' tests $SEES
plant "models: skeletons: a window one too wide" $S/models/stack.py 's/left=self.spec.window - 1/left=self.spec.window/' tests $SEES
plant "models: skeletons: a window in every layer" $S/models/stack.py 's/if layer >= self.window_from else None/if True else None/' tests $SEES
plant "models: skeletons: a text without words" $A/multihead.py 's/x_BTM.view\(batch, length, heads, width \/\/ heads\)/x_BTM.view(batch, length, -1, width \/\/ heads)/' tests $SEES
plant "models: skeletons: types of the source are lost" $S/models/encoder_decoder.py 's/types_BT=source_types_BS/types_BT=None/' tests $M/test_skeletons.py
plant "models: skeletons: types of the target are lost" $S/models/encoder_decoder.py 's/types_BT=target_types_BT/types_BT=None/' tests $M/test_skeletons.py
plant "models: skeletons: the memory is ignored" $S/models/decoder.py 's/        if \(memory_BSM is not None\) != self.reads_memory:/        if False:/' tests $M/test_skeletons.py
plant "models: skeletons: positions below zero" $S/models/places.py 's/    if low < 0:/    if False:/' tests $M/test_skeletons.py
plant "models: skeletons: documents of one side" $S/models/encoder_decoder.py 's/if \(source_documents is None\) != \(target_documents is None\):/if False:/' tests $M/test_skeletons.py
plant "models: skeletons: tables that cannot be shared" $S/models/encoder_decoder.py 's/        if self.shared_words and \($/        if False and (/' tests $M/test_skeletons.py
plant "models: skeletons: sides of other widths" $S/models/encoder_decoder.py 's/if encoder.stack.width != decoder.stack.width:/if False:/' tests $M/test_skeletons.py
plant "models: skeletons: tables are not shared" $S/models/encoder_decoder.py 's/self.encoder.input.words = self.decoder.input.words/pass/' tests $M/test_skeletons.py
plant "models: training: dropout is left out of the input" $S/layers/words.py 's/x_BTM = self.dropout\(x_BTM\)/pass/' tests $L
plant "models: training: a norm nobody trains" $S/layers/block.py 's/self.norm = build_norm\(spec.norm, width\)/self.norm = build_norm(spec.norm, width).requires_grad_(False)/' tests $M/test_training.py -k gradient
plant "models: training: a translator that cannot learn" $S/models/decoder.py 's/Memory\(each, /Memory(Held(each.k_BGSD, each.v_BGSE * 0), /' tests $M/test_training.py -k translator
plant "models: formulas: biases are not counted" $S/models/formulas.py 's/\(outputs if bias else 0\)/0/' tests $M/test_formulas.py -k parameters
plant "models: formulas: a shared table counts twice" $S/models/formulas.py 's/return both - shared/return both/' tests $M/test_formulas.py -k parameters
plant "models: formulas: one attention in a decoder" $S/models/formulas.py 's/attentions = 2 if reads_memory else 1/attentions = 1/' tests $M/test_formulas.py -k parameters
plant "models: formulas: a gate costs nothing" $S/models/formulas.py 's/inner \* \(1 \+ stack.layer.feed_forward.gated\)/inner/' tests $M/test_formulas.py -k block
plant "models: formulas: attention costs nothing" $S/models/formulas.py 's/ \+ 4 \* queries \* keys \* query//' tests $M/test_formulas.py -k 'block or attention'
plant "models: formulas: reading the source costs nothing" $S/models/formulas.py 's/total \+= stack.layers \* \(4 .*/pass/' tests $M/test_formulas.py -k translation
plant "models: formulas: narrow words cost nothing" $S/models/formulas.py 's/total \+= 2 \* side.input.width \* width/pass/' tests $M/test_formulas.py -k 'share or token'
plant "models: formulas: a cache of query heads" $S/models/formulas.py 's/side.stack.layers \* heads.key_value_heads \*/side.stack.layers * heads.heads */' tests $M/test_formulas.py -k cache
plant "models: paper: base with the heads of big" $S/models/paper.py 's/width=512, heads=8/width=512, heads=16/' tests $M/test_paper.py
plant "models: paper: norm before" $S/models/paper.py 's/norm_place="after"/norm_place="before"/' tests $M/test_paper.py
