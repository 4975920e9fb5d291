"""A model at work: what is told is what it did, whichever kind of model it is."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from clearhead import explain
from clearhead.attention import Causal, Heads, Scene, SelfAttention
from clearhead.attention.positions import Alibi, Buckets, Learned, Rotary, Sinusoidal
from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.layers import FeedForward, Frames, Layer, Logits, Norm, Patches, Words
from clearhead.models import Decoder, Encoder, EncoderDecoder, Stack, build
from clearhead.tokens import Encoded, Specials

IDS = [3, 1, 4, 1, 5, 9]


def layer(place="after", **heads):
    spec = {"heads": 4, "key_value_heads": 4, "head_width": 4} | heads
    return Layer(
        heads=Heads(**spec),
        feed_forward=FeedForward(width=24, activation="gelu"),
        norm=Norm(form="rms" if place == "before" else "layer"),
        norm_place=place,
        dropout=0.3,
        attention_dropout=0.3,
    )


def stack(place="after", positions=None, **heads):
    return Stack(
        width=16,
        layers=2,
        layer=layer(place, **heads),
        positions=positions,
        final_norm=place == "before",
    )


def words(**settings):
    return Words(vocabulary=20, width=16, **settings)


def encoder(**heads):
    spec = Encoder(
        input=words(positions=Learned(length=12), types=2, norm=Norm(), dropout=0.3),
        stack=stack(**heads),
    )
    return made(spec)


def decoder(positions=None, **heads):
    spec = stack("before", Rotary() if positions is None else positions, **heads)
    return made(Decoder(input=words(), stack=spec, output=Logits(vocabulary=20)))


def encoder_decoder(place="after"):
    side = {"input": words(scale=4.0, positions=Sinusoidal()), "stack": stack(place)}
    return made(
        EncoderDecoder(
            encoder=Encoder(**side),
            decoder=Decoder(**side, output=Logits(vocabulary=20)),
            shared_words=True,
        )
    )


def made(architecture):
    """A network with weights large enough for heads to have opinions."""
    torch.manual_seed(0)
    network = build(architecture)
    for name, weight in network.named_parameters():
        if "norm" not in name:
            nn.init.normal_(weight, std=0.5)
    return network


class SmallVocabulary:
    """Words as ids by their length, between a first and a last token."""

    specials = Specials(start=2)
    size = 20

    @property
    def target(self):
        return self

    def encode(self, text, pair=None, *, specials=True):
        pieces, spans, place = [], [], 0
        for word in text.split():
            place = text.index(word, place)
            pieces.append(f"##{word.lower()}")
            spans.append((place, place + len(word)))
            place += len(word)
        if specials:
            pieces, spans = ["[CLS]", *pieces, "[SEP]"], [(0, 0), *spans, (0, 0)]
        ids = tuple(len(piece) % 20 for piece in pieces)
        return Encoded(ids=ids, pieces=tuple(pieces), spans=tuple(spans), types=(0,) * len(ids))

    def piece(self, token):
        return f"<{token}>"

    def decode(self, ids, *, specials=False):
        raise NotImplementedError

    find = save = decode


def says(trace, about=None):
    return {note.says for note in trace.notes if about in (None, note.about)}


def tensor(trace, name):
    return torch.from_numpy(trace[name].values)


NETWORKS = {
    "encoder, norm after": encoder,
    "encoder, own scale": lambda: encoder(scale=0.9),
    "decoder, norm before, rotary": decoder,
    "decoder, grouped heads": lambda: decoder(key_value_heads=2),
    "decoder, one shared head": lambda: decoder(key_value_heads=1),
    "decoder, q and k norm": lambda: decoder(norm_epsilon=1e-6),
    "decoder, softcap": lambda: decoder(softcap=2.0),
    "decoder, ALiBi": lambda: decoder(Alibi()),
    "decoder, T5 buckets": lambda: decoder(Buckets(count=8, furthest=16)),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("head", [0, 2])
def test_what_is_told_is_what_the_layer_did(name, head):
    trace = explain(NETWORKS[name](), IDS, layer=1, head=head)
    assert says(trace, "output") == {"agrees"}
    (verdict,) = trace.notes_about("output")
    assert verdict.facts["difference"] < verdict.facts["allowed"] < 0.05
    assert tensor(trace, "scores").allclose(tensor(trace, "q") @ tensor(trace, "k").T)
    assert tensor(trace, "weights").allclose(tensor(trace, "masked").softmax(-1))
    assert tensor(trace, "mixed").allclose(tensor(trace, "weights") @ tensor(trace, "v"))
    mixed = tensor(trace, "joined")[:, 4 * head : 4 * head + 4]
    assert mixed.equal(tensor(trace, "mixed"))


@pytest.mark.parametrize("make", [encoder, decoder], ids=["norm after", "norm before"])
def test_the_steps_lead_from_the_layers_input_to_its_output(make):
    network = make().eval()
    block, passed = network.stack.blocks[1], []
    block.register_forward_hook(lambda part, given, out: passed.append((given[0], out)))
    trace = explain(network, IDS, layer=1, head=2)
    (came, left) = (x[0].double() for x in passed[0])
    before = make is decoder
    inputs = block.attention_residual.norm(came.float()).double() if before else came
    assert tensor(trace, "inputs").allclose(inputs, atol=1e-6)
    assert tensor(trace, "residual").allclose(came + tensor(trace, "output"), atol=1e-4)
    middle = tensor(trace, "residual" if before else "norm")
    summed = middle + tensor(trace, "feed_forward")
    assert tensor(trace, "feed_forward_residual").allclose(summed, atol=1e-5)
    assert tensor(trace, trace.about["steps"][-1]).allclose(left, atol=1e-6)
    wanted = ["residual", "norm", "feed_forward", "feed_forward_residual", "feed_forward_norm"]
    assert trace.about["steps"][13:] == wanted[: 4 if before else 5]
    assert ("normed_before" in says(trace)) == before


def test_an_encoder_adds_learned_positions_and_says_what_else_it_does():
    network = encoder()
    trace = explain(network, IDS)
    table = network.input.words.weight.double()
    assert tensor(trace, "embeddings").equal(table[torch.tensor(IDS)])
    assert tensor(trace, "positions").equal(network.input.positions.weight[:6].double())
    assert says(trace, "inputs") == {"types_added", "embedding_norm"}
    assert says(explain(network, IDS, layer=1), "inputs") >= {"after_layers"}
    assert says(trace, "masked") == {"mask_full"}


def test_a_decoder_turns_masks_and_shares():
    trace = explain(decoder(key_value_heads=2), IDS, head=3)
    assert says(trace, "positions") == {"positions_rotary"}
    assert "positions" not in trace
    assert "turned" in says(trace, "q")
    assert says(trace, "masked") == {"mask_causal"}
    (shared,) = trace.notes_about("k")
    assert shared.facts == {"head": 3, "heads": 4, "group": 1, "groups": 2}
    assert tensor(trace, "weights").triu(1).sum() == 0
    assert trace.about["site"] == "decoder.0.self"
    assert explain(decoder(), IDS).notes_about("k") == []


def test_scores_with_more_than_a_scale_are_told():
    assert says(explain(decoder(Alibi()), IDS), "scaled") == {"bias"}
    assert says(explain(decoder(Buckets(count=8, furthest=16)), IDS), "scaled") == {"bias"}
    assert says(explain(decoder(softcap=2.0), IDS), "scaled") == {"softcap"}
    assert says(explain(encoder(scale=0.9), IDS), "scaled") == {"own_scale"}
    assert says(explain(decoder(Alibi()), IDS), "positions") == {"positions_alibi"}
    assert says(explain(decoder(Buckets(count=8, furthest=16)), IDS), "positions") == {
        "positions_buckets"
    }


@pytest.mark.parametrize("place", ["after", "before"])
def test_an_encoder_decoder_has_three_kinds_of_attention(place):
    network = encoder_decoder(place)
    model = SimpleNamespace(network=network, tokens=SmallVocabulary())
    source, target = "one three fifteen", "uno dos"
    own = explain(model, source)
    assert own.about["site"] == "encoder.0.self"
    assert own.labels["query"] == ("[CLS]", "one", "three", "fifteen", "[SEP]")
    table = network.encoder.input.words.weight.double()
    assert tensor(own, "embeddings")[1].equal(4 * table[5])
    assert "embedding_scaled" in says(own, "embeddings")

    written = explain(model, source, target=target, site="decoder.1.self")
    assert written.labels["key"] == ("<2>", "uno", "dos")
    assert written.about["steps"][13:] == ["residual", "norm"]
    (follows,) = written.notes_about("norm")
    assert follows.facts == {"site": "decoder.1.cross"}
    assert says(written, "masked") == {"mask_causal"}
    assert tensor(written, "embeddings")[0].equal(4 * table[2])

    cross = explain(model, source, target=target, site="decoder.1.cross", head=1, query="dos")
    assert cross.labels["query"] == ("<2>", "uno", "dos")
    assert cross.labels["key"] == own.labels["query"]
    assert cross["weights"].values.shape == (3, 5)
    assert "from_memory" in says(cross, "k")
    assert cross.about["query"] == 2
    assert cross.about["steps"][13:15] == ["residual", "norm"]
    assert "feed_forward" in cross
    for trace in (own, written, cross):
        assert "agrees" in says(trace, "output")


def test_a_decoder_that_has_written_nothing_stands_at_its_start():
    model = SimpleNamespace(network=encoder_decoder(), tokens=SmallVocabulary())
    assert explain(model, "one", site="decoder.0.cross").labels["query"] == ("<2>",)
    ids = explain(encoder_decoder(), IDS, target=[1, 2], site="decoder.0.cross")
    assert ids.labels["query"] == ("1", "2")


def test_a_picture_is_told_without_words():
    network = made(Encoder(input=Patches(picture=8, patch=4), stack=stack("before")))
    trace = explain(network, torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(1)))
    assert says(trace, "embeddings") == {"not_words"}
    assert trace.labels["query"] == ("0", "1", "2", "3", "4")
    assert "agrees" in says(trace, "output")


def test_a_text_is_labelled_as_it_is_written_and_its_first_word_is_followed():
    model = SimpleNamespace(network=encoder(), tokens=SmallVocabulary())
    trace = explain(model, "The Bank opens")
    assert trace.labels["query"] == ("[CLS]", "The", "Bank", "opens", "[SEP]")
    assert trace.about["query"] == 1
    assert explain(model, "The Bank opens", query="bank").about["query"] == 2
    assert explain(model, "The Bank opens", query="[sep]").about["query"] == 4
    assert explain(model, [3, 4]).labels["query"] == ("<3>", "<4>")


def test_a_network_is_left_as_it_was():
    network = encoder().train()
    network.stack.blocks[0].eval()
    before = [part.training for part in network.modules()]
    one, two = (explain(network, IDS) for _ in range(2))  # without dropout
    assert tensor(one, "output").equal(tensor(two, "output"))
    assert [part.training for part in network.modules()] == before
    assert not any(part._forward_hooks for part in network.modules())
    assert all(parameter.grad is None for parameter in network.parameters())


def test_a_layer_that_does_something_else_is_found_out():
    network = encoder()
    network.stack.blocks[0].attention.register_forward_hook(lambda part, given, out: out * 1.01)
    assert says(explain(network, IDS), "output") == {"disagrees"}


def test_half_precision_is_judged_by_its_own_rounding():
    trace = explain(decoder().to(torch.bfloat16), IDS, layer=1)
    assert says(trace, "output") == {"agrees"}


def test_attention_built_by_hand_can_be_explained_too():
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(10, 8)
            spec = Heads(heads=2, key_value_heads=2, head_width=4)
            self.look = SelfAttention(8, spec, site="mine")

        def forward(self, ids):
            return self.look(self.words(ids), Scene(mask=Causal()))

    torch.manual_seed(0)
    trace = explain(Mine(), [1, 2, 3])
    assert trace.about["site"] == "mine"
    assert trace.about["steps"][-1] == "output"
    assert "agrees" in says(trace, "output")


def refused(kind, message, model, *given, **asked):
    with pytest.raises(kind, match=message):
        explain(model, *given, **asked)


def test_what_cannot_be_explained_is_told():
    without_words = SimpleNamespace(network=encoder(), tokens=None)
    with_words = SimpleNamespace(network=encoder(), tokens=SmallVocabulary())
    refused(CannotError, "A float cannot be explained", 3.0)
    refused(CannotError, "Linear has no attention of ours in it", nn.Linear(2, 2), IDS)
    refused(CannotError, "This model has no vocabulary", without_words, "text")
    refused(InputError, "only at work: give it a text", encoder())
    refused(InputError, "The text is empty", with_words, "  ")
    refused(InputError, r"shape \(2, 3\) are not one example", encoder(), torch.ones(2, 3))
    refused(InputError, "are not one example", encoder(), [])
    refused(InputError, "no token 6", encoder(), IDS, query=6)
    again = r"token '1' is there 2 times, at 1, 3: give one of these numbers"
    refused(InputError, again, encoder(), IDS, query="1")


def test_words_and_pictures_are_not_mixed_up():
    pictures = made(Encoder(input=Patches(picture=8, patch=4), stack=stack("before")))
    sounds = made(Encoder(input=Frames(bands=4, length=6), stack=stack("before")))
    refused(InputError, "This model reads pictures, not words", pictures, IDS)
    refused(InputError, "This model reads sound, not words", sounds, IDS)
    refused(InputError, "reads words and was given numbers that are no ids", encoder(),
            torch.rand(1, 3, 8, 8, generator=torch.Generator()))  # fmt: skip


def test_a_place_that_is_not_there_is_answered_with_those_that_are():
    both = encoder_decoder()
    refused(ConfigError, "no layer 2: the encoder has layers 0 to 1", encoder(), IDS, layer=2)
    refused(ConfigError, "no layer -1", encoder(), IDS, layer=-1)
    refused(ConfigError, "no head 4: the attention encoder.0.self has heads 0 to 3", encoder(), IDS,
            head=4)  # fmt: skip
    meant = r"no attention 'decoder.0.cros'. Did you mean 'decoder.0.cross'\? There are: "
    refused(ConfigError, meant + r"encoder.0.self to encoder.1.self, decoder.0.self to", both, IDS,
            site="decoder.0.cros")  # fmt: skip
    refused(ConfigError, "names its layer already", both, IDS, site="encoder.0.self", layer=0)
    refused(ConfigError, "sees the source alone, so a target", both, IDS, target=[1])
    refused(ConfigError, "sees the source alone, so a target", encoder(), IDS, target=[1])
    refused(InputError, "does not say how it starts: give a target", both, IDS,
            site="decoder.0.self")  # fmt: skip
