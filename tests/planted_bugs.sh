#!/usr/bin/env bash
# Plants one bug at a time in a copy of the project and checks that a gate notices.
#
#   tests/planted_bugs.sh            every plant
#   tests/planted_bugs.sh config     those whose name or file has "config" in it
#
# Prints "caught", or "MISSED" (no gate noticed) or "NOOP" (the plant no longer changes anything);
# ends with 1 when there is one of the latter two. A gate that fails without a plant proves nothing,
# so each gate is first seen to pass.
set -uo pipefail
cd "$(dirname "$0")/.."
BIN=$(cd "${BIN:-.venv/bin}" && pwd)
ONLY=${1:-}
COPY=$(mktemp -d)
trap 'rm -rf "$COPY"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar cf - -T - | tar xf - -C "$COPY"
cd "$COPY"
git init -q .
export PYTHONPATH=$COPY/src PYTHONDONTWRITEBYTECODE=1
OUT=$COPY/.git/out
FAILED=0
declare -A SOUND

imports() { "$BIN/lint-imports" --no-logo --no-cache; }
tests() { "$BIN/python" -m pytest -q -x -p no:cacheprovider "$@"; }
style() { "$BIN/ruff" check --no-cache "$@"; }

sound() { # gate...: whether it passes while nothing is planted
  [ -n "${SOUND[$*]:-}" ] || { "$@" >"$OUT" 2>&1 && SOUND[$*]=yes || SOUND[$*]=no; }
  [ "${SOUND[$*]}" = yes ]
}

plant() { # name, file, sed expression ("+text" adds a line at the end), gate...
  local name=$1 file=$2 change=$3
  shift 3
  [[ "$name $file" == *"$ONLY"* ]] || return 0
  sound "$@" || { echo "BROKEN  $name: '$*' fails without a plant"; FAILED=1; return; }
  local before=$COPY/.git/before
  rm -f "$before"
  [ -e "$file" ] && cp "$file" "$before"
  mkdir -p "$(dirname "$file")"
  case $change in
    +*) printf '%b\n' "${change#+}" >>"$file" ;;
    *) sed -i -E "$change" "$file" ;;
  esac
  if [ -e "$before" ] && cmp -s "$file" "$before"; then
    echo "NOOP    $name"; FAILED=1
  elif "$@" >"$OUT" 2>&1; then
    echo "MISSED  $name"; FAILED=1
  else
    echo "caught  $name  <- $(grep -E 'BROKEN|^FAILED|^ERROR|^[A-Z]+[0-9]+ |^src.*error:' "$OUT" | head -1 | cut -c1-110)"
  fi
  if [ -e "$before" ]; then cp "$before" "$file"; else rm -r "$file"; rmdir "$(dirname "$file")" 2>/dev/null; fi
}

S=src/clearhead

# Imports
plant "config meets torch" $S/config/plain.py '+import torch' imports
plant "config meets torch through foundation" $S/config/plain.py '+from ..foundation import seeds' imports
plant "config imports a higher room" $S/config/plain.py '+from .. import attention' imports
plant "foundation imports config" $S/foundation/seeds.py '+from ..config import setting' imports
plant "attention imports config inside a function" $S/attention/choose.py '+def f():\n    from ..config import check' imports
plant "layers import config" $S/layers/__init__.py '+from .. import config' imports
plant "attention imports layers" $S/attention/masks.py '+import clearhead.layers' imports
plant "a kernel knows another" $S/attention/kernels/sdpa.py '+from . import explicit' imports
plant "a room that is not on the map" $S/extras/__init__.py '+"""x"""' imports
plant "a cycle inside a room" $S/config/place.py '+from . import toml' imports

# House rules
C=tests/contracts
RULES=$C/test_house_rules.py
NAMES=$C/test_public_names.py
FILES=$C/test_project_files.py
plant "a file of 401 lines" $S/config/place.py "+$(printf '# x\\n%.0s' {1..401})" tests $RULES
plant "a function of 51 lines" $S/config/place.py "+\ndef f():\n    \"\"\"x\"\"\"\n$(printf '    x = 1\\n%.0s' {1..51})" tests $RULES
plant "four blocks deep" $S/config/place.py '+def f(x):\n    """x"""\n    if x:\n        for y in x:\n            while y:\n                with y:\n                    pass' tests $RULES
plant "a file without a docstring" $S/config/empty.py '+x = 1' tests $RULES
plant "a file called utils" $S/config/utils.py '+"""x"""' tests $RULES
plant "a public function without a promise" $S/config/place.py '+def f():\n    pass' tests $RULES
plant "an ignored type" $S/config/place.py '+x = 1  # type: ignore' tests $RULES
plant "names out of order" $S/config/__init__.py 's/^    "check",/    "zcheck",/' tests $NAMES -k 'exports and config'
plant "a promised name that is not there" $S/config/__init__.py 's/^from .plain import check.*//' tests $NAMES -k 'exports and config'
plant "torch when the package is imported" $S/__init__.py '+import torch' tests $NAMES -k without_it
plant "rich when the log is imported" $S/foundation/log.py '+import rich' tests $NAMES -k without_it
plant "a slow import" $S/__init__.py '+import time\ntime.sleep(0.4)' tests $NAMES -k costs
plant "a path of this machine" $S/config/place.py '+# see /ro''ot/notes' tests $FILES
plant "another version in the changelog" CHANGELOG.md 's/^## 0.1.0/## 0.2.0/' tests $FILES
plant "a pin nobody asked for" constraints.txt 's/^numpy==/nmpy==/' tests $FILES
plant "a verb that is not on the map" ARCHITECTURE.md 's/`convert`, //' tests $FILES -k map
plant "a built room in brackets" pyproject.toml 's/"attention",/"(attention)",/' tests $FILES
plant "a torchless room nobody watches" pyproject.toml 's/source_modules = .*/source_modules = []/' tests $FILES
plant "a link to nowhere" docs/zh/page.md '+[x](nowhere.md)' tests $C/test_documentation.py -k 'link'
plant "a page without its twin" docs/page.md '+# x' tests $C/test_documentation.py -k 'english or twin'
plant "a Chinese page without its original" docs/zh/page.md '+# x' tests $C/test_documentation.py -k 'original'
plant "a snippet that fails" docs/page.md '+```python\n1 / 0\n```' tests $C/test_documentation.py -k 'snippet or link'
plant "print in the library" $S/config/place.py '+print(1)' style $S/config
plant "catching everything" $S/config/place.py '+try:\n    x = 1\nexcept Exception:\n    x = 2' style $S/config

# Config
G=tests/config
plant "config: minimum left out" $S/config/setting.py 's/self.minimum is None or number >= self.minimum/True/' tests $G
plant "config: maximum belongs outside" $S/config/setting.py 's/number <= self.maximum/number < self.maximum/' tests $G
plant "config: above includes its end" $S/config/setting.py 's/number > self.above/number >= self.above/' tests $G
plant "config: below includes its end" $S/config/setting.py 's/number < self.below/number <= self.below/' tests $G
plant "config: one dict shared by all" $S/config/setting.py 's/lambda: dict\(default\)/lambda: default/' tests $G
plant "config: unknown keys pass" $S/config/decode.py 's/if key not in settings:/if False:/' tests $G
plant "config: no suggestion" $S/config/decode.py 's/\{nearest\(str\(key\), settings\)\}//' tests $G
plant "config: idle settings pass" $S/config/decode.py 's/    refuse_idle\(made, plain, place\)/    pass/' tests $G
plant "config: a required setting cannot be idle" $S/config/decode.py 's/ and not is_required\(settings\[name\]\)//' tests $G
plant "config: true is 1" $S/config/decode.py 's/ and type\(plain\) is type\(choice\)//; s/if type\(plain\) is not annotation:/if not isinstance(plain, annotation):/' tests $G
plant "config: text before numbers" $S/config/decode.py 's/key=lambda member: member is str/key=lambda member: member is not str/' tests $G
plant "config: the range does not reach into lists" $S/config/decode.py 's/decode\(part, item, limits, where\)/decode(part, item, Range(), where)/' tests $G
plant "config: kind is guessed" $S/config/decode.py 's/kind is None and len\(tables\) > 1/False/' tests $G
plant "config: None is forgotten" $S/config/plain.py 's/        return NONE/        return "null"/' tests $G
plant "config: defaults are left out" $S/config/plain.py 's/needless = current is None or name in idle/needless = True/' tests $G
plant "config: what is written is not checked" $S/config/plain.py 's/if again != value:/if False:/' tests $G
plant "config: no comments" $S/config/toml.py 's/^        if about:/        if False:/' tests $G
plant "config: changes in the order typed" $S/config/override.py 's/len\(change\[0\]\), //' tests $G
plant "config: kind after the rest" $S/config/override.py 's/, change\[0\]\[-1\] != "kind"\)/, 0)/' tests $G
plant "config: another kind keeps the old settings" $S/config/override.py 's/        holder.clear\(\).*/        pass/' tests $G
plant "config: digits are never text" $S/config/written.py 's/return str\(self\) if wants_text.*/return understood/' tests $G

# Foundation
F=tests/foundation
plant "foundation: MPS before CUDA" $S/foundation/devices.py 's/if torch.cuda.is_available\(\):$/if torch.cuda.is_available() and not torch.backends.mps.is_available():/' tests $F
plant "foundation: a missing GPU is replaced" $S/foundation/devices.py 's/if index >= count:/if False:/' tests $F
plant "foundation: emulated bfloat16" $S/foundation/devices.py 's/ and torch.cuda.is_bf16_supported\(including_emulation=False\)//' tests $F
plant "foundation: one stream for all purposes" $S/foundation/seeds.py 's/\{seed\}\/\{purpose\}/{seed}/' tests $F
plant "foundation: one stream for all seeds" $S/foundation/seeds.py 's/\{seed\}\/\{purpose\}/{purpose}/' tests $F
plant "foundation: seed and purpose run together" $S/foundation/seeds.py 's/\{seed\}\/\{purpose\}/{seed}{purpose}/' tests $F
plant "foundation: the global stream is touched" $S/foundation/seeds.py 's/return torch.Generator\(device\).manual_seed/return torch.manual_seed/' tests $F
plant "foundation: everything said twice" $S/foundation/log.py 's/ours.removeHandler\(handler\)/pass/' tests $F
plant "foundation: an error left out of the tree" $S/foundation/errors.py '+class LostError(ClearheadError):\n    """x"""' tests $F

# The other rooms
for file in tests/planted_bugs/*.sh; do
  . "$file"
done

exit $FAILED
