# Plants in our own folders, in `Model`, greedy search and the command line. Run by
# tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

FOLDER=tests/checkpoints/test_own_folder.py
MODEL=tests/tasks
CLI=tests/cli

plant "commands: folder: the old files first" $S/checkpoints/folder.py 's/made = Path\(beside\)/made = folder/; s/file.replace\(folder \/ file.name\)/pass/' tests $FOLDER
plant "commands: folder: a shared table twice" $S/checkpoints/folder.py 's/weights.pop\("encoder.input.words.weight", None\)/weights["encoder.input.words.weight"] = weights["decoder.input.words.weight"].clone()/' tests $FOLDER
plant "commands: folder: newer formats are read anyway" $S/checkpoints/folder.py 's/ and found > FORMAT:/ and False:/' tests $FOLDER
plant "commands: folder: newer formats are found strange first" $S/checkpoints/folder.py 's/^    _refuse_newer\(folder\)//' tests $FOLDER
plant "commands: folder: another model is written over" $S/checkpoints/folder.py 's/if \(folder \/ "config.json"\).exists\(\):/if False:/' tests $FOLDER
plant "commands: folder: an old vocabulary stays" $S/checkpoints/folder.py 's/if parts.vocabulary is None and/if False and/' tests $FOLDER
plant "commands: folder: a cut file is a traceback" $S/checkpoints/files.py 's/except \(SafetensorError, OSError\)/except OSError/' tests $FOLDER
plant "commands: folder: provenance is lost" $S/checkpoints/folder.py 's/write_json\(made \/ ORIGIN.*/pass/' tests $FOLDER $MODEL
plant "commands: folder: weights for the owner alone" $S/foundation/readers.py 's/^        shutil.copymode\(probe, path\)/        pass/' tests $CLI/test_convert.py tests/traces -k whoever

plant "commands: model: padding is in the mean" $S/tasks/model.py 's/\(count_T < batch.lengths_B\[:, None\]\)/(count_T >= 0).expand(len(batch.lengths_B), -1)/' tests $MODEL
plant "commands: model: padding is read" $S/tasks/model.py 's/lengths_B=batch.lengths_B, //' tests $MODEL
plant "commands: model: vectors of any length" $S/tasks/model.py 's/return normalize\(mean_BM, dim=-1\)/return mean_BM/' tests $MODEL
plant "commands: model: texts without tokens" $S/tasks/model.py 's/if not batch.lengths_B.all\(\):/if False:/' tests $MODEL
plant "commands: model: a text is a list of letters" $S/tasks/batch.py 's/if isinstance\(texts, str\):/if False:/' tests $MODEL
plant "commands: model: a prompt without tokens" $S/tasks/model.py 's/        if not ids:/        if False:/' tests $MODEL
plant "commands: model: the first word of the prompt decides" $S/inference/session.py 's/logits_BTV\[:, -1\]/logits_BTV[:, 0]/' tests $MODEL
plant "commands: model: an encoder generates" $S/tasks/model.py 's/if isinstance\(network, EncoderNetwork\):/if False:/' tests $MODEL
plant "commands: model: the preparation is not kept" $S/tasks/load.py 's/preparation=parts.preparation,//' tests $MODEL
plant "commands: model: precision is not heard" $S/tasks/load.py 's/parts.network.to\(where, dtype\)/parts.network.to(where)/' tests $MODEL
plant "commands: model: text without a tokenizer" $S/tasks/load.py 's/parts = open_parts\(name\)/parts = open_parts(name); parts.vocabulary.size/' tests $MODEL
plant "commands: greedy: the stop is said" $S/inference/greedy.py 's/for row in staying:/for row in range(len(tokens)):/' tests tests/inference
plant "commands: greedy: one token too many" $S/inference/greedy.py 's/range\(max_tokens\)/range(max_tokens + 1)/' tests tests/inference
plant "commands: greedy: the whole text at every step" $S/inference/greedy.py 's/newest_BT = prompts_BT.new_tensor\((.*)\)$/newest_BT = torch.cat([newest_BT[staying], prompts_BT.new_tensor(\1).view(-1, 1)], 1)/' tests tests/inference

plant "commands: main: another exit code" $S/cli/main.py 's/sys.exit\(2\)/sys.exit(1)/' tests $CLI/test_bad_input.py
plant "commands: main: always a traceback" $S/cli/main.py 's/        if debug:/        if True:/' tests $CLI/test_bad_input.py
plant "commands: main: debug before the verb only" $S/cli/main.py 's/for word in arguments\[:end\] if word != "--debug"/for place, word in enumerate(arguments[:end]) if place or word != "--debug"/' tests $CLI/test_bad_input.py
plant "commands: main: debug is taken out of the text" $S/cli/main.py 's/end = arguments.index\("--"\) if "--" in arguments else len\(arguments\)/end = len(arguments)/' tests $CLI/test_bad_input.py
plant "commands: main: a place that cannot be written" $S/cli/main.py 's/except \(ClearheadError, OSError\)/except ClearheadError/' tests $CLI/test_convert.py
plant "commands: main: the version wants a verb" $S/cli/main.py 's/callback=tell_version, is_eager=True, //' tests $CLI/test_bad_input.py
plant "commands: convert: writes over what is there" $S/cli/convert.py 's/if folder.exists\(\) and/if False and/' tests $CLI/test_convert.py
plant "commands: convert: always our own form" $S/cli/convert.py 's/form=to/form="clearhead"/' tests $CLI/test_convert.py
plant "commands: info: brackets are colours" $S/visuals/structure.py 's/escape\(title\)/title/' tests $CLI/test_info.py
plant "commands: info: brackets in the facts are colours" $S/cli/info.py 's/escape\(shown\)/shown/' tests $CLI/test_info.py
plant "commands: info: always 512 tokens of context" $S/tasks/about.py 's/flops_per_token\(architecture, length=length\)/flops_per_token(architecture, length=512)/' tests $CLI/test_info.py
plant "commands: info: no window in the drawing" $S/visuals/structure.py 's/    if not stack.get\("window"\):/    if True:/' tests $CLI/test_info.py
plant "commands: info: labels from two tokens" $S/visuals/structure.py 's/    if spec\["kind"\] == "taught":/    if False:/' tests $CLI/test_info.py
plant "commands: open: a folder without a config" $S/checkpoints/open.py 's/is a folder without/is empty without/' tests $CLI/test_bad_input.py
