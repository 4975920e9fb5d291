# Plants in the families of text models and in what reads and writes their folders. Run by
# tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

P=tests/parity
M=$S/models
FAMILY=$M/families

plant "bert: queries and keys change places" $FAMILY/bert.py 's/\("query", "key", "value"\)/("key", "query", "value")/' tests $P -k Bert
plant "bert: another epsilon" $FAMILY/bert.py 's/Norm\(epsilon=settings.get\("layer_norm_eps", 1e-12\)\)/Norm(epsilon=1e-12)/' tests $P -k Bert
plant "bert: another epsilon where none is said" $FAMILY/bert.py 's/"layer_norm_eps", 1e-12/"layer_norm_eps", 1e-5/' tests $P -k Bert
plant "bert: the activation is always gelu" $FAMILY/bert.py 's/activation=activation\(settings.get\("hidden_act", "gelu"\)\)/activation="gelu"/' tests $P -k Bert
plant "bert: the classifier's dropout is the blocks'" $FAMILY/bert.py 's/"classifier_dropout", "hidden_dropout_prob"/"hidden_dropout_prob"/' tests $P -k Bert
plant "bert: kinds of dropout change places" $FAMILY/bert.py 's/"hidden_dropout_prob", 0.1/"X", 0.1/; s/"attention_probs_dropout_prob", 0.1/"hidden_dropout_prob", 0.1/; s/"X"/"attention_probs_dropout_prob"/' tests $P -k Bert
plant "bert: scores are always tied" $FAMILY/bert.py 's/        only\(settings, tie_word_embeddings=True\)/        pass/' tests $P -k refusals
plant "bert: old names of norms are not known" $FAMILY/bert.py 's/LayerNorm.gamma/LayerNorm.gama/' tests $P -k folders
plant "roberta: positions off by one" $FAMILY/roberta.py 's/default=1\) \+ 1/default=1)/' tests $P -k berta
plant "roberta: every padding id is 1" $FAMILY/roberta.py 's/first_of\(settings, "pad_token_id", default=1\)/1/' tests $P -k berta
plant "roberta: the padding id is not written" $FAMILY/roberta.py 's/positions.offset - 1/positions.offset/' tests $P -k berta
plant "electra: judges by tanh" $FAMILY/electra.py 's/through=bend/through="tanh"/' tests $P -k Electra
plant "electra: judges the first word only" $FAMILY/electra.py 's/, each=True//' tests $P -k Electra
plant "electra: embeddings as wide as the blocks" $FAMILY/electra.py 's/"embedding_size", "hidden_size"/"hidden_size"/' tests $P -k Electra
plant "distilbert: another epsilon" $FAMILY/distilbert.py 's/epsilon=1e-12/epsilon=1e-5/' tests $P -k DistilBert
plant "distilbert: classifies by tanh" $FAMILY/distilbert.py 's/through="relu"/through="tanh"/' tests $P -k DistilBert
plant "gpt2: another epsilon" $FAMILY/gpt2.py 's/settings.get\("layer_norm_epsilon", 1e-5\)/1e-5/' tests $P -k GPT2
plant "gpt2: a middle four times as wide" $FAMILY/gpt2.py 's/first_of\(settings, "n_inner", default=4 \* width\)/4 * width/' tests $P -k GPT2
plant "gpt2: scores are always scaled" $FAMILY/gpt2.py 's/scale=None if .*/scale=None,/' tests $P -k GPT2
plant "gpt2: no norm at the end" $FAMILY/gpt2.py 's/final_norm=True/final_norm=False/' tests $P -k GPT2
plant "gpt2: folders without a prefix are not known" $FAMILY/gpt2.py 's/\(r"\^transformer\\\.", ""\),//' tests $P -k folders
plant "gelu_new is gelu" $FAMILY/family.py 's/"gelu_new": "gelu_tanh"/"gelu_new": "gelu"/' tests $P -k GPT2
plant "a setting we cannot follow is overlooked" $FAMILY/family.py 's/if settings.get\(key, value\) != value/if False/' tests $P -k refusals
plant "llama: gate and inputs change places" $FAMILY/llama.py 's/mlp.gate_proj", f"\{theirs\}.mlp.up_proj/mlp.up_proj", f"{theirs}.mlp.gate_proj/' tests $P -k Llama
plant "llama: the base of turns is always 10000" $FAMILY/llama.py 's/    base = first_of.*/    base = 10000.0/' tests $P -k Llama
plant "llama: low and high change places" $FAMILY/llama.py 's/low=given\["low_freq_factor"\]/low=given["high_freq_factor"]/' tests $P -k Llama
plant "llama: a biased output is not" $FAMILY/llama.py 's/output_bias=biased/output_bias=False/' tests $P -k Llama
plant "mistral: a window one wider" $M/stack.py 's/Window\(left=self.spec.window - 1/Window(left=self.spec.window/' tests $P -k Mistral
plant "qwen2: the window from the first layer" $FAMILY/llama.py 's/return settings.get\("sliding_window", 4096\), min.*/return settings.get("sliding_window", 4096), 0/' tests $P -k Qwen2
plant "qwen3: norms of queries and keys change places" $FAMILY/llama.py 's/self_attn.q_norm/self_attn.x_norm/; s/self_attn.k_norm/self_attn.q_norm/; s/self_attn.x_norm/self_attn.k_norm/' tests $P -k Qwen3
plant "marian: waves as in the paper" $FAMILY/marian.py 's/layout="halves"/layout="interleaved"/' tests $P -k Marian
plant "marian: texts of any length" $FAMILY/marian.py 's/, length=want\(settings, "max_position_embeddings"\)//' tests $P -k Marian
plant "marian: one vocabulary for both sides" $FAMILY/marian.py 's/source if shared else/source if True else/' tests $P -k Marian
plant "bart: positions off by one" $FAMILY/bart.py 's/^OFFSET = 2/OFFSET = 1/' tests $P -k Bart
plant "bart: another epsilon" $FAMILY/bart.py 's/Norm\(epsilon=1e-5\)/Norm(epsilon=1e-3)/' tests $P -k Bart
plant "bart: embeddings are never scaled" $FAMILY/bart.py 's/ if settings.get\("scale_embedding", False\) else 1.0/ * 0 + 1.0/' tests $P -k Bart
plant "bart: words without a bias" $FAMILY/bart.py 's/tied=tied, bias=True/tied=tied, bias=False/' tests $P -k Bart
plant "bart: cross-attention's keys and values change places" $FAMILY/bart.py 's/"kv", width/"vk", width/' tests $P -k Bart
plant "bart: norms of a block change places" $FAMILY/bart.py 's/encoder_attn_layer_norm/x/; s/self_attn_layer_norm/encoder_attn_layer_norm/; s/theirs\}\.x"/theirs}.self_attn_layer_norm"/' tests $P -k Bart
plant "t5: scores are scaled" $FAMILY/t5.py 's/                scale=1.0,//' tests $P -k T5
plant "t5: another epsilon" $FAMILY/t5.py 's/settings.get\("layer_norm_epsilon", 1e-6\)/1e-6/' tests $P -k T5
plant "t5: the scores of words are not scaled" $FAMILY/t5.py 's/scale = width\*\*-0.5 if first else 1.0/scale = 1.0/' tests $P -k T5
plant "t5: 1.1 is tied" $FAMILY/t5.py 's/"scale_decoder_outputs", "tie_word_embeddings", default=True/"x", default=True/' tests $P -k T5
plant "t5: a decoder's buckets for both sides" $M/decoder.py 's/both_sides=False/both_sides=True/' tests $P -k T5
plant "t5: a gated gelu is exact" $FAMILY/t5.py 's/"gelu_new" if form == "gated-gelu" else bend/bend/' tests $P -k T5
plant "the place of the first token is forgotten" $M/encoder.py 's/self.output\(hidden_BTM, starts_B\)/self.output(hidden_BTM)/' tests $P -k first_token
plant "positions behind padding off by one" $M/places.py 's/count_T - begins\)/count_T - begins + 1)/' tests $P -k 'GPT2 or Llama'
plant "positions are not counted anew in a document" $M/places.py 's/if documents_BT is not None:/if False:/' tests $P -k packed
plant "positions of steps begin at 0" $M/places.py 's/torch.arange\(past, longest/torch.arange(0, longest - past/' tests $P -k steps
plant "padding of the source is seen" $M/encoder_decoder.py 's/causal=False, lengths_B=lengths_B, starts_B=starts_B/causal=False/' tests $P -k 'padding or padded'
plant "documents of a source are seen by all" $M/encoder_decoder.py 's/        documents = Documents/        Documents/' tests $P -k packed
plant "tables that stand in for each other are one" $S/checkpoints/foreign/weights.py 's/times\[stored\[name\]\] > 1/False/' tests $P -k folders
plant "a copy that is none passes" $S/checkpoints/foreign/weights.py 's/if not torch.equal\(copy, original\)/if False/' tests $P -k refusals
plant "spare weights pass" $S/checkpoints/foreign/weights.py 's/    if strange:/    if False:/' tests $P -k refusals
plant "only the first few names are counted" $S/checkpoints/foreign/weights.py 's/ and \{len\(names\) - SHOWN\} more//' tests $P -k refusals
plant "special ids are lost" $S/checkpoints/foreign/huggingface.py 's/return \{\*\*kept, \*\*settings\}/return settings/' tests $P -k folders
plant "names of labels are lost" $S/checkpoints/foreign/huggingface.py 's/        settings\["id2label"\] = names/        pass/' tests $P -k folders
