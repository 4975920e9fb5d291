# Plants in vocabularies, pictures, sound, and the files of pictures, sound, GGUF and packages. Run
# by tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

T=tests/tokens
C=tests/checkpoints
PS="tests/parity/test_pictures_and_sound.py"
K=$S/tokens
FAMILY=$S/models/families
FOREIGN=$S/checkpoints/foreign

plant "wordpiece: everything is lower case" $K/wordpiece.py 's/lowercase=bool\(.*\),/lowercase=True,/' tests $T/test_vocabularies.py
plant "wordpiece: accents are left as they come" $K/wordpiece.py 's/strip_accents=.*,/strip_accents=None,/' tests $T/test_vocabularies.py
plant "wordpiece: Chinese is cut like English" $K/wordpiece.py 's/handle_chinese_chars=.*,/handle_chinese_chars=False,/' tests $T/test_vocabularies.py
plant "wordpiece: the second text has type 0" $K/wordpiece.py 's/\$B:1 \{last\}:1/$B:0 {last}:0/' tests $T/test_vocabularies.py
plant "bytes: no space is put before" $K/byte_level.py 's/options.get\("add_prefix_space", False\)/options.get("nothing", False)/' tests $T/test_vocabularies.py
plant "bytes: Qwen cuts like GPT-2" $K/byte_level.py 's/beside.published_as == "Qwen2Tokenizer"/False/' tests $T/test_vocabularies.py
plant "bytes: RoBERTa is not surrounded" $K/byte_level.py 's/in \("RobertaTokenizer", "BartTokenizer"\)/in ()/' tests $T/test_vocabularies.py
plant "bytes: Whisper has no prompt" $K/byte_level.py 's/"<\|startoftranscript\|>", "<\|notimestamps\|>"/"<|notimestamps|>",/' tests $T/test_vocabularies.py
plant "bytes: the first line of merges is lost" $K/byte_level.py 's/number == 1 and line.startswith\("#version"\)/number == 1/' tests $T/test_vocabularies.py
plant "bytes: merges are not checked" $K/byte_level.py 's/        if not known:/        if False:/' tests $T/test_refusals.py
plant "bytes: a text is never framed" $K/byte_level.py 's/    if not first and not last:/    if True:/' tests $T/test_vocabularies.py
plant "sentencepiece: nothing is normalised" $K/sentencepieces.py 's/    if spec.precompiled_charsmap:/    if False:/' tests $T/test_vocabularies.py
plant "sentencepiece: spaces are all kept" $K/sentencepieces.py 's/    if spec.remove_extra_whitespaces:/    if False:/' tests $T/test_vocabularies.py
plant "sentencepiece: extra ids count upwards" $K/sentencepieces.py 's/in reversed\(range\(extra\)\)\]$/in range(extra)]/' tests $T/test_vocabularies.py
plant "sentencepiece: the pairs of the last piece first" $K/sentencepieces.py 's/found.sort\(key=lambda each: each\[:3\]\)/found.sort(key=lambda each: -each[0])/' tests $T/test_vocabularies.py
plant "sentencepiece: no bytes to fall back on" $K/sentencepieces.py 's/byte_fallback=model.trainer_spec.byte_fallback/byte_fallback=False/' tests $T/test_vocabularies.py
plant "sentencepiece: no space before the first word" $K/sentencepieces.py 's/prefix=spec.add_dummy_prefix/prefix=False/' tests $T/test_vocabularies.py
plant "sentencepiece: T5 does not end" $K/sentencepieces.py 's/    if is_t5:/    if False:/' tests $T/test_vocabularies.py
plant "marian: target cut like source" $K/two_sides.py 's/self.cutter = _cutter\(models\[side\], side\)/self.cutter = _cutter(models["source"], side)/' tests $T/test_vocabularies.py
plant "marian: places are counted in bytes" $K/two_sides.py 's/for _ in letter.encode\("utf-8"\)\]/for _ in "x"]/' tests $T/test_vocabularies.py
plant "marian: special tokens are cut" $K/two_sides.py 's/whole = .*/whole = "\\x00"/' tests $T/test_vocabularies.py
plant "marian: languages are cut" $K/two_sides.py 's/r">>\.\*\?<<"/r"never"/' tests $T/test_vocabularies.py
plant "vocabulary: cut and padded as the file says" $K/subwords.py 's/tokenizer.no_(truncation|padding)\(\)/pass/' tests $T/test_vocabularies.py
plant "vocabulary: ids are not checked" $K/subwords.py 's/if not 0 <= token < size:/if False:/' tests $T/test_refusals.py
plant "vocabulary: settings are not saved" $K/subwords.py 's/options = \{\*\*beside.special_tokens, \*\*beside.options\}/options = {}/' tests $T/test_vocabularies.py
plant "vocabulary: what a generator needs is not saved" $K/subwords.py 's/    if generation:/    if False:/' tests $T/test_vocabularies.py
plant "vocabulary: half of one is taken for none" $K/reading.py 's/if there and len\(there\) < len\(names\):/if False:/' tests $T/test_refusals.py
plant "special ids: numbers beside win over names" $K/specials.py 's/named = find\(tokens\[token\]\) if token in tokens else None/named = None/' tests $T/test_vocabularies.py
plant "special ids: one end only" $K/specials.py 's/ends = tuple\(_ids\(generation.get\("eos_token_id"\)\)\)/ends = ()/' tests $T/test_vocabularies.py
plant "special ids: a start is forgotten" $K/specials.py 's/start=next\(.*\),/start=None,/' tests $T/test_vocabularies.py
plant "beside: added tokens are forgotten" $K/beside.py 's/^            \*\(_token\(given, special=None\) for _, given in listed\),//' tests $T/test_vocabularies.py
plant "beside: options of a token are forgotten" $K/beside.py 's/for flag in flags if flag in given\}/for flag in ()}/' tests $T/test_vocabularies.py
plant "gguf words: kinds are ignored" $K/gguf_words.py 's/if kind in \(CONTROL, USER_DEFINED\)/if False/' tests $T/test_gguf_words.py
plant "gguf words: numbers are not cut" $K/gguf_words.py 's/elif cut in DIGIT_BY_DIGIT:/elif False:/' tests $T/test_gguf_words.py
plant "gguf words: unlikely pieces first" $K/gguf_words.py 's/token: -score/token: score/' tests $T/test_gguf_words.py
plant "gguf words: all ways to cut are one" $K/gguf_words.py 's/    if pattern is not None:/    if False:/' tests $T/test_gguf_words.py
plant "gguf words: a Llama does not begin" $K/gguf_words.py 's/begins = said\["model"\] == "llama" or /begins = /' tests $T/test_gguf_words.py
plant "gguf words: a turn ends nothing" $K/gguf_words.py 's/\("eos_token_id", "eot_token_id"\)/("eos_token_id",)/' tests $T/test_gguf_words.py
plant "whisper words: one language too few" $K/whisper_words.py 's/\*codes\[:languages\]/*codes[: languages - 1]/' tests $C/test_whisper_file.py
plant "whisper words: languages in another order" $K/whisper_words.py 's/"en zh de/"en de zh/' tests $C/test_whisper_file.py

plant "pictures: height and width change places" $K/pictures.py 's/image.resize\(\(width, height\)/image.resize((height, width)/' tests $T/test_pictures.py
plant "pictures: always bilinear" $K/pictures.py 's/resample=RESAMPLING.index\(self.resampling\)\)/resample=2)/' tests $T/test_pictures.py
plant "pictures: the middle is the corner" $K/pictures.py 's/top, left = .*/top, left = 0, 0/' tests $T/test_pictures.py
plant "pictures: not turned upright" $K/pictures.py 's/turned = need.*/turned = image/' tests $T/test_pictures.py
plant "pictures: channels last" $K/pictures.py 's/normed.transpose\(2, 0, 1\)/normed.transpose(2, 1, 0)/' tests $T/test_pictures.py
plant "pictures: mean and deviation change places" $K/pictures.py 's/scaled - np.array\(self.mean\)\) \/ np.array\(self.deviation\)/scaled - np.array(self.deviation)) \/ np.array(self.mean)/' tests $T/test_pictures.py
plant "sound: one frame too many" $K/sound.py 's/wave\[\.\.\., :-1\]/wave/' tests $T/test_sound.py
plant "sound: not limited to the loudest" $K/sound.py 's/maximum\(loudest_B11 - 8.0\)/maximum(loudest_B11 - 80.0)/' tests $T/test_sound.py
plant "sound: the loudest of all sounds" $K/sound.py 's/amax\(dim=\(1, 2\)/amax(dim=(0, 1, 2)/' tests $T/test_sound.py
plant "sound: bands of equal height" $K/sound.py 's/ \* area_C1\)\.float/).float/' tests $T/test_sound.py
plant "sound: any rate will do" $K/sound.py 's/if found != rate:/if False:/' tests $T/test_sound.py

plant "vit: norm after" $FAMILY/vit.py 's/norm_place="before"/norm_place="after"/' tests $PS
plant "vit: another epsilon" $FAMILY/vit.py 's/settings.get\("layer_norm_eps", 1e-12\)/1e-12/' tests $PS
plant "vit: norms change places" $FAMILY/vit.py 's/layernorm_before/X/; s/layernorm_after/layernorm_before/; s/X/layernorm_after/' tests $PS
plant "vit: queries and keys change places" $FAMILY/vit.py 's/"query", "key", "value"/"key", "query", "value"/' tests $PS
plant "vit: the pooler is always tanh" $FAMILY/vit.py 's/Pooled\(activation=.*\)/Pooled()/' tests $PS
plant "vit: always a bias" $FAMILY/vit.py 's/input_bias=settings.get\("qkv_bias", True\)/input_bias=True/' tests $PS
plant "deit: special tokens change places" $FAMILY/vit.py 's/\("cls_token", "distillation_token"\)/("distillation_token", "cls_token")/' tests $PS
plant "deit: the teacher is not heard" $S/layers/taught.py 's/self.taught_scores\(hidden_BTM\[:, 1\]\)/self.scores(hidden_BTM[:, 0])/' tests $PS
plant "whisper: values have no bias, keys have" $FAMILY/whisper.py 's/None if part == "k"/None if part == "v"/' tests $PS
plant "whisper: no norm at the end" $FAMILY/whisper.py 's/final_norm=True/final_norm=False/' tests $PS
plant "whisper: both sides have the encoder's heads" $FAMILY/whisper.py 's/f"\{side\}_attention_heads"\)$/"encoder_attention_heads")/' tests $PS
plant "whisper: scores are always tied" $FAMILY/whisper.py 's/tied=settings.get\("tie_word_embeddings", True\)/tied=True/' tests $PS
plant "whisper: the activation is always gelu" $FAMILY/whisper.py 's/activation=activation\(settings.get\("activation_function", "gelu"\)\)/activation="gelu"/' tests $PS

plant "gguf: rows stay as llama.cpp turns them" $FOREIGN/gguf.py 's/return weight if heads is None else .*/return weight/' tests $C/test_gguf.py
plant "gguf: keys are turned like queries" $FOREIGN/gguf.py 's/"k_proj": heads.key_value_heads/"k_proj": heads.heads/' tests $C/test_gguf.py
plant "gguf: Qwen is turned like Llama" $FOREIGN/gguf.py 's/TURNS_NEIGHBOURS = \("llama", "mistral"\)/TURNS_NEIGHBOURS = ("llama", "mistral", "qwen2", "qwen3")/' tests $C/test_gguf.py
plant "gguf: always tied" $FOREIGN/gguf_settings.py 's/"tie_word_embeddings": .*/"tie_word_embeddings": True,/' tests $C/test_gguf.py
plant "gguf: another base" $FOREIGN/gguf_settings.py 's/"rope_theta": .*/"rope_theta": 10000.0,/' tests $C/test_gguf.py
plant "gguf: another epsilon" $FOREIGN/gguf_settings.py 's/"rms_norm_eps": .*/"rms_norm_eps": 1e-5,/' tests $C/test_gguf.py
plant "gguf: heads as wide as the rest allows" $FOREIGN/gguf_settings.py 's/head_width = own.get\("attention.key_length", /head_width = own.get("nothing", /' tests $C/test_gguf.py
plant "gguf: a window is overlooked" $FOREIGN/gguf_settings.py 's/published = "mistral" if .*/published = kind/' tests $C/test_gguf.py
plant "gguf: slowing down is overlooked" $FOREIGN/gguf_settings.py 's/    if slower is not None:/    if False:/' tests $C/test_gguf.py
plant "gguf: linear scaling is overlooked" $FOREIGN/gguf_settings.py 's/    if kind == "none":/    if True:/' tests $C/test_gguf.py
plant "gguf: any slowing down is Llama 3's" $FOREIGN/gguf_settings.py 's/if not torch.allclose\(.*\):/if False:/' tests $C/test_gguf.py
plant "gguf: experts are overlooked" $FOREIGN/gguf_settings.py 's/ or experts:/:/' tests $C/test_gguf.py
plant "whisper file: norms change places" $FOREIGN/whisper_file.py 's/\(r"\\bmlp_ln\\b", "final_layer_norm"\)/(r"\\bmlp_ln\\b", "self_attn_layer_norm")/; s/\(r"\\battn_ln\\b", "self_attn_layer_norm"\)/(r"\\battn_ln\\b", "final_layer_norm")/' tests $C/test_whisper_file.py
plant "whisper file: another activation" $FOREIGN/whisper_file.py 's/"activation_function": "gelu"/"activation_function": "relu"/' tests $C/test_whisper_file.py
plant "whisper file: sizes are not checked" $FOREIGN/whisper_file.py 's/    if lacking or .*:/    if False:/' tests $C/test_whisper_file.py
plant "installed: the package is imported" $S/checkpoints/installed.py 's/^    path = installed_file\(wanted/    __import__(f"{name.partition(chr(45))[0].rstrip(chr(50))}_package")\n    path = installed_file(wanted/' tests $C/test_installed.py
plant "installed: a file that is listed is there" $S/checkpoints/installed.py 's/ and path.is_file\(\)//' tests $C/test_installed.py
plant "files: code runs" $S/checkpoints/files.py 's/weights_only=True/weights_only=False/' tests $C/test_files.py
plant "files: a shard may lie anywhere" $S/checkpoints/files.py 's/    if outside:/    if False:/' tests $C/test_files.py
plant "files: some damage is a traceback" $S/checkpoints/files.py 's/ValueError, LookupError, //' tests $C/test_files.py
plant "hub: a failure without a word is a traceback" $S/checkpoints/open.py 's/next\(iter\(str\(e\).splitlines\(\)\), type\(e\).__name__\)/str(e).splitlines()[0]/' tests $C/test_open.py -k fetched
plant "parts: spare weights are overlooked" $S/checkpoints/parts.py 's/    if spare:/    if False:/' tests $C/test_parts.py
plant "parts: weights are drawn first" $S/checkpoints/parts.py 's/, Unfilled\(\)//' tests $C/test_parts.py
plant "parts: dropout stays on" $S/checkpoints/parts.py 's/\.float\(\)\.eval\(\)/.float()/' tests $C/test_parts.py
plant "parts: half precision stays" $S/checkpoints/parts.py 's/network\.float\(\)\.eval/network.eval/' tests $C/test_huggingface.py
plant "weights: one too many is overlooked" $FOREIGN/weights.py 's/    if strange:/    if False:/' tests $C/test_huggingface.py
plant "huggingface: how pictures are taken is forgotten" $FOREIGN/huggingface.py 's/preparation=read_preparation\(folder\)/preparation=None/' tests $C/test_huggingface.py
