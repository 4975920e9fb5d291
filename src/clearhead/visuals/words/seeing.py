"""What a drawing of seen attention says, in English and Chinese."""

from collections.abc import Mapping

from .choose import words_in

SAYS: dict[str, dict[str, str]] = {
    "en": {
        "title": "What {model} looks at",
        "model": "a model",
        "counts": "{sites} attentions, {heads} heads, {queries} × {keys} tokens; {kernel}",
        "heads": "Every head, by what it does",
        "layer": "layer",
        "site": "{site}, head {head}",
        "named": "{name} ({score:.2f})",
        "numbers": "entropy {entropy:.2f} nats · on the first key {sink:.0%} · {distance:.1f} back",
        "exact": "every cell is one weight",
        "pooled": "each cell is the mean over {rows} × {columns} tokens; white is {largest:.3g}",
        "top": "Where each token looks: the {top} strongest keys, and what is left out",
        "rest": "rest",
        "padding": "{count} padded queries are left out",
        "batch": "the first of {batch} examples",
        "map": "{told}; {down}",
        "down": "queries go down, keys go across",
        "more": "… {count} more tokens: --rows FIRST:LAST shows others, --json all",
        "none": "These layers have no attention matrix: {layers}",
        "previous": "previous token",
        "next": "next token",
        "self": "itself",
        "first": "first token",
        "local": "nearby",
        "induction": "induction",
        "duplicate": "same token",
        "diagonal": "diagonal",
        "stripe": "one key",
        "broad": "everything",
        "mixed": "mixed",
    },
    "zh": {
        "title": "{model} 在看什么",
        "model": "模型",
        "counts": "{sites} 处注意力，{heads} 个头，{queries} × {keys} 个词元；{kernel}",
        "heads": "每个头在做什么",
        "layer": "层",
        "site": "{site}，第 {head} 个头",
        "named": "{name}（{score:.2f}）",
        "numbers": "熵 {entropy:.2f} 奈特 · 落在第一个键上 {sink:.0%} · 平均往回 {distance:.1f}",
        "exact": "每一格就是一个权重",
        "pooled": "每一格是 {rows} × {columns} 个词元的平均；最亮处是 {largest:.3g}",
        "top": "每个词元看向哪里：最强的 {top} 个键，以及没有列出的部分",
        "rest": "其余",
        "padding": "{count} 个填充的查询没有算在内",
        "batch": "{batch} 个例子中的第一个",
        "map": "{told}；{down}",
        "down": "查询自上而下，键自左而右",
        "more": "……还有 {count} 个词元：--rows 起:止 看别的，--json 看全部",
        "none": "这些层没有注意力矩阵：{layers}",
        "previous": "前一个词元",
        "next": "后一个词元",
        "self": "自己",
        "first": "第一个词元",
        "local": "附近",
        "induction": "归纳",
        "duplicate": "相同词元",
        "diagonal": "对角线",
        "stripe": "一个键",
        "broad": "全部",
        "mixed": "混合",
    },
}


def says_in(language: str) -> Mapping[str, str]:
    """The words of this language; a language that is not there is refused."""
    words_in(language)
    return SAYS[language]
