# Plants in switching heads off, in what they are worth, and in the logit lens. Run by
# tests/planted_bugs.sh, which brings `plant`, `tests` and $S.

L=tests/lens
OFF=$L/test_ablate.py
THEIRS=$L/test_ablate_transformers.py
WORTH=$L/test_importance.py
LENS=$L/test_logit_lens.py
ACT=tests/attention/test_intervene.py

plant "causes: what was changed is announced" $S/attention/attend.py 's/        announce\(told\)/        announce(replace(told, attended=changed(told)))/; s/^from typing import NamedTuple/from dataclasses import replace\nfrom typing import NamedTuple/' tests $ACT
plant "causes: everyone changes everywhere" $S/attention/intervene.py 's/in CHANGED_HERE.get\(\)/in CHANGERS/' tests $ACT
plant "causes: the inner change forgets the outer" $S/attention/intervene.py 's/replace\(told, attended=replace\(told.attended, values_BHTE=changer\(told\)\)\)/replace(told, attended=replace(told.attended, values_BHTE=changer(first)))/; s/^    for changer in/    first = told\n    for changer in/' tests $ACT
plant "causes: a change outlives its block" $S/attention/intervene.py 's/        CHANGED_HERE.reset\(token\)/        pass/' tests $ACT
plant "causes: theirs are not changed" $S/lens/watching/huggingface.py 's/if not CHANGERS:/if True:/' tests $THEIRS -k scaled
plant "causes: the head beside it" $S/lens/ablate.py 's/index = torch.tensor\(heads,/index = torch.tensor([head ^ 1 for head in heads],/' tests $OFF -k scaled
plant "causes: half is none" $S/lens/ablate.py 's/if scale == 0:/if scale < 1:/' tests $OFF -k scaled
plant "causes: infinite times nothing" $S/lens/ablate.py 's/if scale == 0:/if False:/' tests $OFF -k infinite
plant "causes: nothing done is no error" $S/lens/ablate.py 's/^        off.refuse_idle\(\)/        pass/' tests $OFF -k nothing_was
plant "causes: padding counts" $S/lens/means.py 's/found = real_queries\(.*/found = None/' tests $OFF -k tokens_of_the_call
plant "causes: padding counts in cross-attention" $S/lens/means.py 's/return beside if .*/return None/' tests $OFF -k tokens_of_the_call
plant "causes: padding added to scores counts" $S/lens/means.py 's/request=parted_bias\(told.request\)/request=told.request/' tests $THEIRS -k tokens_of_the_call
plant "causes: a mean of the last call" $S/lens/means.py 's/self.sum_HE = self.sum_HE \+/self.sum_HE =/; s/self.count \+= /self.count = /' tests $OFF -k all_its_calls
plant "causes: a reference is heard" $S/lens/means.py 's/unheard\(\), //' tests $OFF -k not_heard
plant "causes: what is not heard is noted" $S/lens/watching/keeper.py 's/        if self.listens:/        if True:/' tests $OFF -k not_heard
plant "causes: moves nobody heard are noted" $S/lens/watching/keeper.py 's/if self.runs and self.listens:/if self.runs:/' tests $WORTH -k beams
plant "causes: the wrong sign" $S/lens/importance.py 's/number_of\(metric\) - base/base - number_of(metric)/' tests $WORTH -k copy
plant "causes: heads stay off" $S/lens/importance.py 's/Off\(\{site: \[head\]\}/Off({site: list(range(head + 1))}/' tests $WORTH -k copy
plant "causes: the smallest first" $S/lens/importance.py 's/return -abs\(each.change\)/return abs(each.change)/' tests $WORTH -k copy
plant "causes: lens: no final norm" $S/lens/stream.py 's/states_NtM if norm is None else norm\(states_NtM\)/states_NtM/' tests $LENS -k 'that_ends_there'
plant "causes: lens: layers and examples mixed up" $S/lens/stream.py 's/torch.stack\(self.states\)/torch.stack(self.states, 1)/' tests $LENS -k 'theirs_says'
plant "causes: lens: ties rank below" $S/lens/logit_lens.py 's/\(logs_LBtV > own_LBt1\)/(logs_LBtV >= own_LBt1)/' tests $LENS -k 'model_says'
plant "causes: lens: another head passes" $S/lens/stream.py 's/    refuse_another_head\(network, told\)/    pass/' tests $LENS -k by_itself
plant "causes: lens: a layer that did not run passes" $S/lens/stream.py 's/if len\(self.states\) != len\(self.blocks\):/if False:/' tests $LENS -k dropped
plant "causes: lens: hooks stay" $S/lens/stream.py 's/stack.callback\(note.remove\)/pass/' tests $LENS -k left_as
