"""Chinese."""

SPACE = ""

TITLES = {
    "embeddings": "词嵌入",
    "positions": "位置",
    "inputs": "输入",
    "q": "查询",
    "k": "键",
    "v": "值",
    "scores": "分数",
    "scaled": "缩放",
    "masked": "掩码",
    "weights": "权重",
    "mixed": "加权求和",
    "joined": "各头拼接",
    "output": "输出",
    "residual": "残差",
    "norm": "归一化",
    "feed_forward": "前馈网络",
    "feed_forward_residual": "前馈后的残差",
    "feed_forward_norm": "前馈后的归一化",
    "order": "换个顺序",
    "shuffled": "打乱，不加位置",
    "shuffled_difference": "打乱的结果 − 原结果按新顺序重排",
    "placed": "加上位置",
    "placed_shuffled": "打乱，加位置",
    "placed_difference": "打乱的结果 − 原结果按新顺序重排",
}

WHY = {
    "embeddings": "每个词元从学到的表里查出一行数字。",
    "positions": "注意力本身分不清先后，所以给每个位置各加一行数字。",
    "inputs": "“说的是什么”和“站在哪里”，合在每个词元的一行里。",
    "q": "每个词元在找什么。",
    "k": "每个词元凭什么被找到。",
    "v": "每个词元被找到后交出什么。",
    "scores": "每个查询与每个键逐项相乘再相加；和越大，越匹配。",
    "scaled": "d 项乘积之和的大小随 √d 增长；除以 √d 把这部分抵消掉，头再宽，softmax 也不会饱和。",
    "masked": "不许看的键，在 softmax 之前就换成 −∞，这样它的权重才恰好是 0。",
    "weights": "softmax 只做一次：exp 把分数变成正数，再除以整行之和，变成份额。每行之和为 1。",
    "mixed": "每个查询按份额取所有的值：对 V 的各行做加权平均。",
    "joined": "每个头各算各的，把结果并排放在一起。",
    "output": "再乘一个矩阵，让各头的结果相互混合。",
    "residual": "把找到的加回原来的输入，原有的信息不会丢。",
    "norm": "把每一行调回差不多的大小。",
    "feed_forward": "注意力在位置之间搬运信息；这里逐行加工：两层线性变换，中间夹一个非线性。",
    "feed_forward_residual": "同样，把结果加回去。",
    "feed_forward_norm": "同样，再把每一行调回差不多的大小。",
    "order": "还是这些词元，换个顺序：现在每个位置上放的是原来的第几行。",
    "shuffled": "按新顺序把整个注意力重算一遍。",
    "shuffled_difference": (
        "全是 0：还是那几行，只是跟着换了顺序。没有位置，注意力看到的只是一袋词元。"
        "这叫置换等变（permutation equivariance）。"
    ),
    "placed": "现在先加上位置，词元按原来的顺序。",
    "placed_shuffled": "位置不动，词元互换座位。",
    "placed_difference": "不再是 0：有了位置，词元的顺序就有了意义。",
}

NOTES = {
    "inputs_given": "给的就是输入，位置已经加在里面。",
    "no_positions": "这里没有位置：各行不知道自己排第几。",
    "positions_rotary": "不加在输入上：这个模型按位置旋转查询和键（旋转位置编码）。",
    "positions_alibi": "不加在输入上：这个模型按距离从分数里扣一点（ALiBi）。",
    "positions_buckets": "不加在输入上：这个模型按距离给分数加一个学到的数（T5）。",
    "nothing_embedded": "还用不上：这个例子直接从表开始。",
    "alpha_queries": (
        "α 说明每一行要多少。α1 是独热的：只要第三行；α2 要两行各一半；α3 每行各要四分之一。"
    ),
    "unit_keys": "每个键就是自己的行号（独热），q·k 等于把 α 原样读出来。",
    "colour_table": "这张表每行是一种颜色：红、绿、蓝三种光各多少。",
    "not_scaled": "还用不上：不除以任何数。",
    "already_shares": (
        "α 本来就是份额：没有负数，每行之和为 1。等到 q 和 k 是学出来的，份额从哪里来？"
        "来自 softmax，见例子 powerful。"
    ),
    "no_output_projection": "这里没有 W_o：拼接的结果就是输出。",
    "embedding_scaled": "按这个模型的做法，已乘以 {scale:.4g}。",
    "not_words": "这个模型读的不是文字，输入来自图像或声音。",
    "types_added": "还加上了一行表示属于第一段还是第二段文字。",
    "embedding_norm": "词嵌入与位置相加后，先做了一次归一化。",
    "after_layers": "这是经过前面 {layers} 层之后的结果。",
    "normed_before": "这个模型先归一化：这里是归一化之后的各行。",
    "shared_head": (
        "键和值是共用的：{heads} 个查询头里的第 {head} 个，"
        "读 {groups} 个键值头里的第 {group} 个（从 0 数起）。"
    ),
    "from_memory": "键和值来自编码器：这是交叉注意力。",
    "turned": "这里的查询和键已按位置旋转（旋转位置编码）。",
    "own_scale": "这个注意力乘的是 {scale:.4g}，而不是 1/√d。",
    "softcap": "再压到 -{softcap:g} 与 {softcap:g} 之间。",
    "bias": "再按距离给每个分数加一个数（{kind}）。",
    "sinks": "有一个“汇”分走每行的一部分，却不给出值，所以每行之和小于 1。",
    "mask_full": "这里没有掩码：谁都可以看谁。",
    "mask_causal": "因果掩码：谁也不许看后面。{pairs} 对里有 {forbidden} 对不许看。",
    "mask_rule": "{pairs} 对里有 {forbidden} 对不许看。",
    "blind": "有 {rows} 个查询什么都不许看：权重全是 0。",
    "agrees": (
        "已核对：用 q、k、v 按定义以 float64 重算，与这一层实际给出的结果（内核 {kernel}）"
        "最多差 {difference:.1e}；舍入误差最多可到 {allowed:.1e}。"
    ),
    "disagrees": (
        "警告：按定义重算，与这一层实际给出的结果（内核 {kernel}）相差 {difference:.1e}，"
        "而舍入误差最多只有 {allowed:.1e}。"
    ),
    "cross_follows": "接下来是交叉注意力：用 {site} 来看。",
    "moved": "最大相差 {largest:.4f}。",
}

AXES = {
    "query": "个查询",
    "key": "个键",
    "shuffled": "个词元",
    "width": "个数",
    "value": "个数",
    "model": "个数",
    "embedding": "个数",
    "joined": "个数",
    "out": "个数",
}

SCREEN = {
    "title": "注意力，一步一步看",
    "tokens": "词元",
    "site": "{site}，第 {head} 个头，共 {heads} 个（从 0 数起），查询 {query}",
    "query": "查询 {query}",
    "head": "第 {head} 个头，共 {heads} 个（从 0 数起），查询 {query}",
    "sources": "被看的词元",
    "absent": "—",
    "more_rows": "…… 还有 {count} 行",
    "more": "+{count}",
    "others": "其余 {count} 个",
    "by_hand": "手算：{line}",
    "same": "与“{step}”相同。",
    "comma": "，",
    "end": "{query} 主要取自：{shares}。",
    "end_spread": "{query} 从 {count} 个词元各取一点。",
    "end_blind": "{query} 什么都不许看，所以什么也没取到。",
    "weights_used": "乘的矩阵",
    "null": "null 表示 −∞。",
}
