# Plants in data, vocabularies and training. Run by tests/planted_bugs.sh, which brings `plant`,
# `tests` and $S.

BATCHES="tests tests/data/test_batches.py"
CORPUS="tests tests/data/test_corpus.py"
STEP="tests tests/training/test_learner.py"
LOST="tests tests/training/test_never_a_lost_step.py"

plant "data: an order leaves numbers out" $S/data/order.py 's/while outside.any\(\):/while False:/' $BATCHES
plant "data: every epoch is the same" $S/data/order.py 's/order\/\{self.epoch\}/order/' $BATCHES
plant "data: batches are not mixed" $S/data/batches.py 's/for at in draw.permutation\(len\(cut\)\)/for at in range(len(cut))/' $BATCHES
plant "data: a batch may be one too large" $S/data/batches.py 's/np.arange\(1, len\(widest\) \+ 1\)/np.arange(len(widest))/' $BATCHES
plant "data: the last pool is left out" $S/data/batches.py 's/\(position.pool \+ 1\) \* self.pool </(position.pool + 2) * self.pool </' $BATCHES
plant "data: an example is read one place off" $S/data/store.py 's/number \/\/ ROWS\), number % ROWS/number \/\/ ROWS), max(number % ROWS - 1, 0)/' tests tests/data/test_store.py
plant "data: files need not be in step" $S/data/corpus.py 's/zip_longest\(\*_lines/zip(*_lines/' $CORPUS
plant "data: an empty side is a text" $S/data/corpus.py 's/if not text.strip\(\):/if False:/' $CORPUS
plant "data: lines are counted from nought" $S/data/corpus.py 's/enumerate\(lines, start=2\)/enumerate(lines, start=1)/' $CORPUS
plant "training: gradients are of one batch" $S/training/learner.py 's/torch._foreach_div_\(gradients, max\(count, 1\)\)/torch._foreach_div_(gradients, loss.count)/' $STEP
plant "training: norms and biases decay too" $S/training/learner.py 's/"weight_decay": 0.0/"weight_decay": settings.decay/' $STEP
plant "training: a failed step changes weights" $S/training/learner.py 's/if not failed:/if True:/' $STEP
plant "training: it is measured with dropout" $S/training/learner.py 's/        self.network.eval\(\)/        self.network.train()/' $STEP
plant "training: other files, old ids" $S/training/prepare.py 's/digest.update\(file_digest.*/pass/' $STEP
plant "training: chance depends on what went before" $S/training/learner.py 's/torch.manual_seed\(derived.*/pass/' $LOST
plant "training: the position is forgotten" $S/training/learner.py 's/self.step, self.position = state\["step"\], Position\(\*\*state\["position"\]\)/self.step = state["step"]/' $LOST
plant "training: moments are forgotten" $S/training/learner.py 's/if moments:/if False:/' $LOST
plant "training: the best is forgotten" $S/training/learner.py 's/self.best = dict\(state\["best"\]\)/self.best = {}/' $LOST
plant "training: the journal is not cut back" $S/training/journal.py 's/self.file.truncate.*/pass/' $LOST
plant "training: damage is not looked for" $S/training/checkpoint.py 's/if sums.get\(name\) != _sum\(file\):/if False:/' $LOST
plant "training: a half-written checkpoint has its name" $S/training/checkpoint.py 's/part = folder \/ f"\{step:06\}.part"/part = folder \/ f"{step:06}"/' $LOST
plant "training: another run goes on in its place" $S/training/loop.py 's/        refuse_another\(run, lasting.*/        pass/' $LOST

WORDS="tests tests/tokens/test_learned.py"
DEMO="tests tests/cli/test_demo.py"

plant "vocabularies: special tokens in a text are special" $S/tokens/subwords.py 's/tokenizer.encode_special_tokens = True/pass/' $WORDS
plant "vocabularies: unigrams like to be special" $S/tokens/learned.py 's/NEVER = -1e6/NEVER = 0.0/' $WORDS
plant "vocabularies: a text has no end" $S/tokens/learned.py 's/single=f"\$A \{END\}"/single="$A"/' $WORDS
plant "vocabularies: source and target change places" $S/tokens/pair.py 's/return self._target/return self.source/' $WORDS
plant "demo: a run that was ended is shown" $S/cli/demo.py 's/return seconds if trained.finished else None/return seconds/' $DEMO
plant "demo: words are one place off" $S/tasks/aligning.py 's/\[\(start \+ 1, stop \+ 1\)/[(start + 2, stop + 2)/' $DEMO
plant "demo: brackets are styles" $S/cli/demo.py 's/line = Text\(f"(.*)"\).append/line = Text.from_markup(f"\1").append/' $DEMO
plant "commands: memory is given back" $S/foundation/memory.py 's/mallopt\(name, value\) == 1/name < 0/' tests tests/foundation/test_memory.py
plant "commands: blank texts are translated" $S/tasks/translating.py 's/ or not text.strip\(\)//' tests tests/cli/test_train.py
