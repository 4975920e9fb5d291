"""Something must learn: digits backwards, in seconds, guards the whole stack."""

import random

from clearhead import load
from clearhead.data import Corpus, rows_of
from clearhead.models.sized import Shape
from clearhead.tasks.translation import Translation
from clearhead.tokens import Learned
from clearhead.training import Run, train
from clearhead.training.run import Data, Train
from clearhead.training.schedule import Cosine


def test_a_translator_learns_to_turn_digits_round(tmp_path):
    draw = random.Random(0)
    texts = ["".join(draw.choices("0123456789", k=draw.randrange(2, 6))) for _ in range(4000)]
    new = sorted({text for text in texts[3000:] if text not in texts[:3000]})[:60]
    for name, part in {"train": texts[:3000], "test": new}.items():
        lines = ["source\ttarget", *(f"{text}\t{text[::-1]}" for text in part)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    task = Translation(source=Learned(cut="characters", size=16), smoothing=0.0)
    test = Corpus(files=(str(tmp_path / "test.tsv"),))
    run = Run(
        into=str(tmp_path / "run"),
        device="cpu",
        task=task,
        model=Shape(size="tiny", width=64, layers=2, heads=4, dropout=0.0),
        data=Data(train=Corpus(files=(str(tmp_path / "train.tsv"),)), valid=test),
        train=Train(steps=500, tokens=600, rate=2e-3, schedule=Cosine(warmup=30), valid_every=500),
    )
    model = load(str(train(run).model), device="cpu")
    scored = task.score(model, [row.fields for row in rows_of(test, task.columns)])
    assert scored.numbers["exact_match"] >= 0.9
    assert scored.numbers["chrf"] >= 95
