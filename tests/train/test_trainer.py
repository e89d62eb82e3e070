"""The loop: it goes on after a kill with the same result, stops when told, and says what is wrong."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from seqcourse import CourseError, data, models, seed_everything, train
from seqcourse.train import precision, trainer

PROGRAM = """
import sys, torch
from pathlib import Path
from seqcourse import data, models, seed_everything, train
torch.set_num_threads(1)
seed_everything(3)
model = models.AttentionSeq2Seq(12, 12, 8, 12, dropout=0.3)
src, tgt = data.copy_task(400, 5, symbols=8, seed=0)
batches = data.Batches(src, tgt, batch_size=16)
config = train.TrainingConfig(epochs=4, learning_rate=5e-3, warmup_steps=5, decay="cosine", save_every=3)
valid = data.Batches(*data.copy_task(40, 5, symbols=8, seed=1), batch_size=40, shuffle=False)
validate = lambda m: sum(train.teacher_forcing_loss(m, b).item() for b in valid)
trainer = train.Trainer(model, train.teacher_forcing_loss, config, Path(sys.argv[1]))
history = trainer.fit(batches, validate, resume=True)
torch.save([model.state_dict(), history.step_losses, history.valid], sys.argv[2])
"""


# A run that hangs after some steps, so that it is killed before its end however busy the machine is.
HANGS = """
import time
steps = 0
def loss(model, batch):
    global steps
    steps += 1
    if steps > int(sys.argv[3]):
        time.sleep(600)
    return train.teacher_forcing_loss(model, batch)
trainer = train.Trainer("""


def start(folder: Path, result: Path, hangs: int = 0) -> subprocess.Popen:
    program = PROGRAM
    if hangs:
        program = program.replace("\ntrainer = train.Trainer(", HANGS)
        program = program.replace("Trainer(model, train.teacher_forcing_loss", "Trainer(model, loss")
    command = [sys.executable, "-c", program, str(folder), str(result), str(hangs)]
    return subprocess.Popen(command)


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_killed_run_goes_on_to_the_same_result(tmp_path, times):
    """Killed with SIGKILL once or twice, soon after a checkpoint, against a run that was left alone."""
    assert start(tmp_path / "calm", tmp_path / "calm.pt").wait(300) == 0
    checkpoint = tmp_path / "killed" / "checkpoint.pt"
    for _ in range(times):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = start(tmp_path / "killed", tmp_path / "killed.pt", hangs=40)
        deadline = time.monotonic() + 300
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline, "no checkpoint appeared"
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "killed.pt").exists()
    assert start(tmp_path / "killed", tmp_path / "killed.pt").wait(300) == 0
    calm, killed = (torch.load(tmp_path / f"{n}.pt") for n in ("calm", "killed"))
    assert calm[1] == killed[1]  # every single loss
    assert calm[2] == killed[2]
    for name, value in calm[0].items():
        assert torch.equal(value, killed[0][name]), name


def small(**options):
    seed_everything(0)
    model = models.EncoderDecoder(12, 12, 8, 12)
    batches = data.Batches(*data.copy_task(64, 4, symbols=8, seed=0), batch_size=16)
    folder = options.pop("folder", None)
    loss = options.pop("loss", train.teacher_forcing_loss)
    return train.Trainer(model, loss, train.TrainingConfig(**options), folder), batches


def test_the_chosen_gpu_becomes_the_current_one(monkeypatch):
    """Accelerate computes on the current GPU, so that has to be the one that SEQCOURSE_DEVICE names."""
    made_current = []
    monkeypatch.setattr(precision, "device", lambda: torch.device("cuda:1"))
    monkeypatch.setattr(torch.cuda, "set_device", made_current.append)
    precision.accelerator_for("no")
    assert made_current == [torch.device("cuda:1")]


def validation(batches, stop_at=None):
    """Loss on the batches; the call with that number (from 0) is interrupted instead."""
    calls = []

    def validate(model):
        calls.append(None)
        if len(calls) - 1 == stop_at:
            raise KeyboardInterrupt
        return sum(train.teacher_forcing_loss(model, batch).item() for batch in batches)

    return validate


@pytest.mark.parametrize("stop_at", [0, 1, 2])
def test_a_run_interrupted_at_an_epochs_very_end_goes_on_to_the_same_result(tmp_path, stop_at):
    """The last checkpoint was written after the epoch's last step, before its validation."""
    options = {"epochs": 3, "save_every": 4, "learning_rate": 1e-2}  # 4 batches make an epoch
    calm, batches = small(**options)
    calm.fit(batches, validation(batches))
    first, batches = small(folder=tmp_path, **options)
    with pytest.raises(KeyboardInterrupt):
        first.fit(batches, validation(batches, stop_at))
    assert first.step_in_epoch == 0
    second, batches = small(folder=tmp_path, **options)
    seed_everything(99)  # the checkpoint's generators count, not these
    second.fit(batches, validation(batches), resume=True)
    for name in ("step_losses", "epoch_losses", "valid"):
        assert getattr(second.history, name) == getattr(calm.history, name)
    for a, b in zip(calm.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_max_steps_ends_inside_an_epoch():
    trainer, batches = small(epochs=5, max_steps=6)
    history = trainer.fit(batches)
    assert len(history.step_losses) == 6
    assert len(history.epoch_losses) == 1


def test_max_steps_inside_an_epoch_is_where_a_resumed_run_stands(tmp_path):
    trainer, batches = small(epochs=5, max_steps=6, folder=tmp_path)
    losses = trainer.fit(batches).step_losses
    again, batches = small(epochs=5, max_steps=6, folder=tmp_path, loss=None)  # no step is taken
    assert again.fit(batches, resume=True).step_losses == losses
    for a, b in zip(trainer.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("nothing", [{"max_steps": 0}, {"epochs": 0}])
def test_no_steps_change_nothing(nothing):
    trainer, batches = small(**nothing)
    before = [p.clone() for p in trainer.model.parameters()]
    assert trainer.fit(batches).step_losses == []
    assert all(map(torch.equal, before, trainer.model.parameters()))


def test_epochs_of_different_lengths_are_all_gone_through():
    """As with data.Batches(batch_tokens=...): 3, 5 and 2 batches."""
    _, batches = small()
    seen = []

    class Changing:
        def set_epoch(self, epoch):
            self.size = (3, 5, 2)[epoch]

        def __len__(self):
            return self.size

        def __iter__(self):
            return iter((list(batches) * 2)[: self.size])

    trainer, _ = small(epochs=3, decay="cosine")
    history = trainer.fit(Changing(), on_epoch=lambda t: seen.append(t.step))
    assert seen == [3, 8, 10]
    for loss, (a, b) in zip(history.epoch_losses, ((0, 3), (3, 8), (8, 10)), strict=True):
        assert loss == pytest.approx(sum(history.step_losses[a:b]) / (b - a))
    assert trainer.rate(11) == trainer.rate(9) == pytest.approx(0.05 * trainer.config.learning_rate)


def test_batches_that_give_nothing_are_named():
    trainer, _ = small()
    with pytest.raises(CourseError, match="at least one batch per process, but there are 0"):
        trainer.fit([])
    with pytest.raises(CourseError, match="a list or a loader, but they are a generator"):
        trainer.fit(batch for batch in [])

    class OnlyOnce:
        def __init__(self, items):
            self.items = iter(items)

        def __iter__(self):
            return self.items

        def __len__(self):
            return 4

    trainer, batches = small(epochs=2)
    with pytest.raises(CourseError, match="nothing in epoch 2.*gone through again"):
        trainer.fit(OnlyOnce(batches))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"epochs": -1}, "epochs should be at least 0, but it is -1"),
        ({"patience": 0}, "patience should be at least 1, but it is 0"),
        ({"save_every": 0}, "save_every should be at least 1, but it is 0"),
        ({"clip_norm": 0.0}, "clip_norm should be a finite number greater than 0"),
        ({"learning_rate": math.nan}, "learning_rate should be a finite number .* but is nan"),
        ({"learning_rate": math.inf}, "learning_rate should be a finite number .* but is inf"),
        ({"decay": "exponential"}, "constant, linear, cosine, not 'exponential'"),
    ],
)
def test_options_that_make_no_sense_are_named(option, message):
    with pytest.raises(ValueError, match=message):
        train.TrainingConfig(**option)


def test_a_later_trainer_does_not_change_the_precision_of_an_earlier_one():
    found = []

    def loss(model, batch):
        found.append(earlier.accelerator.mixed_precision)
        return train.teacher_forcing_loss(model, batch)

    earlier, batches = small(precision="bf16", loss=loss)
    small(precision="no")
    earlier.fit(batches)
    assert set(found) == {"bf16"}


def test_early_stop_keeps_the_best_weights():
    trainer, batches = small(epochs=50, patience=2)
    values, kept = iter([3.0, 2.0, 2.5, 2.2, 1.0]), []

    def validate(model):
        kept.append({k: v.clone() for k, v in model.state_dict().items()})
        return next(values)

    history = trainer.fit(batches, validate)
    assert history.valid == [3.0, 2.0, 2.5, 2.2]
    for name, value in trainer.model.state_dict().items():
        assert torch.equal(value, kept[1][name])


def test_patience_that_ran_out_is_out_after_resuming_too(tmp_path):
    def run(loss):
        trainer, batches = small(epochs=50, patience=2, folder=tmp_path, loss=loss)
        trainer.fit(batches, lambda model: next(values), resume=True)
        return trainer

    values = iter([3.0, 2.0, 2.5, 2.2, 1.0])
    one = run(train.teacher_forcing_loss)
    two = run(None)  # no step is taken
    assert one.history == two.history
    for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(a, b)  # the best ones


def test_a_validation_value_that_is_no_number_stops():
    trainer, batches = small()
    with pytest.raises(CourseError, match="validation value became nan after epoch 1"):
        trainer.fit(batches, lambda model: float("nan"))


def test_the_rate_of_a_run_of_unknown_length_is_asked_for_too_early():
    trainer, _ = small(decay="linear", warmup_steps=2)
    assert trainer.rate(1) == trainer.config.learning_rate
    with pytest.raises(ValueError, match="call fit first"):
        trainer.rate(2)


def test_rate_warms_up_and_decays():
    trainer, batches = small(epochs=5, learning_rate=1.0, warmup_steps=4, decay="linear")
    trainer.fit(batches)  # 20 steps
    rates = [trainer.rate(step) for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert rates[12] == pytest.approx(0.5)
    assert min(rates[4:]) == pytest.approx(1 / 16) == rates[19]


def test_gradients_are_clipped():
    seen = []

    def loss(model, batch):
        return 1e4 * train.teacher_forcing_loss(model, batch)

    trainer, batches = small(epochs=1, clip_norm=0.5, loss=loss)
    trainer.optimizer.register_step_post_hook(
        lambda optimizer, *_: seen.append(
            torch.stack([p.grad.norm() for g in optimizer.param_groups for p in g["params"]])
            .norm()
            .item()
        )
    )
    trainer.fit(batches)
    assert seen
    assert max(seen) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_precision(precision):
    """Under bf16 the model computes in 16 bits and its parameters stay in 32."""
    dtypes = []

    def loss(model, batch):
        output = model(batch.src, batch.src_lengths, batch.tgt_in)
        dtypes.append(output.logits.dtype)
        return train.teacher_forcing_loss(model, batch)

    trainer, batches = small(epochs=2, precision=precision, loss=loss)
    history = trainer.fit(batches)
    assert set(dtypes) == {torch.bfloat16 if precision == "bf16" else torch.float32}
    assert all(p.dtype == torch.float32 for p in trainer.model.parameters())
    assert history.epoch_losses[1] < history.epoch_losses[0]


@pytest.mark.parametrize(("amx", "computes_in"), [(True, "bf16"), (False, "no")])
def test_fast_is_bf16_where_the_processor_has_amx(amx, computes_in, monkeypatch):
    for module in (precision, trainer):
        monkeypatch.setattr(module, "device", lambda: torch.device("cpu"))
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    fast, batches = small(precision="fast")
    assert fast.accelerator.mixed_precision == computes_in
    assert small(precision="auto")[0].accelerator.mixed_precision == "no"
    assert math.isfinite(fast.fit(batches).epoch_losses[0])


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
@pytest.mark.parametrize("native", [True, False])
def test_auto_takes_no_bf16_that_is_only_emulated(kind, native, monkeypatch):
    """A Tesla T4, Colab's default, says that it has bf16 unless it is asked about its hardware."""
    monkeypatch.setattr(
        torch.get_device_module(kind),
        "is_bf16_supported",
        lambda including_emulation=True: including_emulation or native,
    )
    assert precision.has_bf16(kind) == native


def test_a_loss_that_is_no_number_stops_with_advice():
    trainer, batches = small(epochs=1, loss=lambda m, b: train.teacher_forcing_loss(m, b) * float("nan"))
    with pytest.raises(CourseError, match="loss became nan at step 1.*lower learning rate"):
        trainer.fit(batches)


ONE = torch.ones(1, 1, dtype=torch.int64)
UNASKED = [
    (train.teacher_forcing_loss, data.Batch(5 * ONE, ONE[0], ONE, 0 * ONE, 0 * ONE[0])),
    (train.language_model_loss, data.TextBatch(5 * ONE, -100 * ONE)),
]


@pytest.mark.parametrize(("loss", "batch"), UNASKED)
def test_a_batch_that_asks_for_nothing_is_named(loss, batch):
    """A lower learning rate would not help there."""
    is_text = isinstance(batch, data.TextBatch)
    model = models.CharLM(12, 6, 8) if is_text else models.EncoderDecoder(12, 12, 8, 12)
    with pytest.raises(CourseError, match="batch of step 1 asks for nothing.*Leave such batches out"):
        train.Trainer(model, loss, train.TrainingConfig()).fit([batch])


def test_a_checkpoint_of_other_options_is_refused(tmp_path):
    trainer, batches = small(epochs=1, folder=tmp_path)
    trainer.fit(batches)
    other, _ = small(epochs=2, folder=tmp_path)
    with pytest.raises(CourseError, match="other training options"):
        other.fit(batches, resume=True)


def test_a_checkpoint_of_other_batches_is_refused(tmp_path):
    trainer, batches = small(folder=tmp_path)
    trainer.fit(batches)
    other, _ = small(folder=tmp_path)
    with pytest.raises(CourseError, match="made with 4 batches.*now there are 2"):
        other.fit(list(batches)[:2], resume=True)


def test_a_file_that_holds_something_else_is_no_checkpoint(tmp_path):
    torch.save({"model": {}}, tmp_path / "checkpoint.pt")
    with pytest.raises(CourseError, match="should be a checkpoint of a training run"):
        train.load_checkpoint(tmp_path / "checkpoint.pt")


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04broken"])
def test_a_damaged_checkpoint_is_named(tmp_path, content):
    (tmp_path / "checkpoint.pt").write_bytes(content)
    trainer, batches = small(epochs=1, folder=tmp_path)
    with pytest.raises(CourseError, match="cannot be read.*train again"):
        trainer.fit(batches, resume=True)


def test_checkpoints_never_run_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.system, ("true",))

    torch.save({"model": Evil()}, tmp_path / "checkpoint.pt")
    with pytest.raises(CourseError, match="cannot be read"):
        train.load_checkpoint(tmp_path / "checkpoint.pt")


def in_processes(program: str, folder: Path, count: int = 2) -> list:
    """What each of the processes, gloo between them, has saved as its result."""
    folder.mkdir(exist_ok=True)
    file = folder / "program.py"
    file.write_text(program)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    subprocess.run(
        [*command, f"--nproc-per-node={count}", str(file), str(folder / "run"), str(folder / "result")],
        check=True,
        timeout=240,
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
    )
    return [torch.load(folder / f"result{rank}") for rank in range(count)]


OWN_WORDS = "lambda model, batch: train.scheduled_sampling_loss(model, batch, 0.5)"


@pytest.mark.nightly
@pytest.mark.parametrize("loss", ["train.teacher_forcing_loss", OWN_WORDS])
def test_two_processes_learn_together(tmp_path, loss):
    """Gradients are averaged: both processes end with the same weights, on half the batches each.

    Also with a loss that goes through the model step by step instead of calling it. They agree on one
    validation value even where each finds another, its own rank.
    """
    rank = "trainer.accelerator.process_index"
    program = (
        PROGRAM.replace("epochs=4", "epochs=1")
        .replace("sys.argv[2])", f"sys.argv[2] + str({rank}))")
        .replace("Trainer(model, train.teacher_forcing_loss", f"Trainer(model, {loss}")
        .replace("fit(batches, validate", f"fit(batches, lambda model: {rank}")
    )
    one, two = in_processes(program, tmp_path)
    assert len(one[1]) == len(two[1]) == 12  # 25 batches, every second one each
    assert one[1] != two[1]  # different batches
    assert one[2] == two[2] == [0.5]
    for name, value in one[0].items():
        torch.testing.assert_close(value, two[0][name])


LENGTHS_THAT_DIFFER = """
import sys, torch
from seqcourse import data, decode, models, seed_everything, train
torch.set_num_threads(1)
seed_everything(0)
model = models.Transformer(12, 12, 8, 2, 1)
copies = [data.copy_task(4, length, symbols=8, seed=0)[0] for length in (70, 5, 5, 140)]
ids = [row for copy in copies for row in copy]
batches = data.Batches(ids, ids, batch_size=4, shuffle=False, bucket=False)
def validate(model):
    with torch.inference_mode():
        memory = model.encode(torch.tensor([[5, 6]]), torch.tensor([2]))
        return float(len(decode.greedy(model, memory, max_len=300, forbid=(data.EOS,))[0].tokens))
trainer = train.Trainer(model, train.teacher_forcing_loss, train.TrainingConfig(epochs=2))
history = trainer.fit(batches, validate)
rank = trainer.accelerator.process_index
torch.save([model.state_dict(), history.step_losses, history.valid], sys.argv[2] + str(rank))
"""


@pytest.mark.nightly
def test_two_processes_with_sentences_of_any_length(tmp_path):
    """One process has short batches where the other has long ones, and long outputs are validated."""
    one, two = in_processes(LENGTHS_THAT_DIFFER, tmp_path)
    assert len(one[1]) == len(two[1]) == 4
    assert one[2] == two[2] == [300.0, 300.0]
    for name, value in one[0].items():
        torch.testing.assert_close(value, two[0][name])


A_RECIPE = """
import os, sys, numpy, torch
from dataclasses import replace
from seqcourse import seed_everything, train, zoo
torch.set_num_threads(1)
recipe = zoo.recipe("g2p-transformer")
sizes = {"width": 16, "heads": 2, "layers": 1, "hidden": 32}
# without dropout, of which every process draws its own, and a batch for each of two processes
recipe = replace(recipe, sizes=sizes, batch_size=12)
task = zoo.task_of(recipe)
source, target = task.vocabularies()
seed_everything(recipe.seed)
model = zoo.build_model(recipe, source, target)
batches = task.batches(source, target)
if os.environ["WORLD_SIZE"] == "1":
    plan = batches.set_epoch
    def joined(epoch):
        plan(epoch)
        halves = batches.groups
        batches.groups = [numpy.concatenate(two) for two in zip(halves[::2], halves[1::2])]
    batches.set_epoch = joined
training = replace(recipe.training, max_steps=20, warmup_steps=5, precision="no")
trainer = train.Trainer(model, task.loss(), training)
history = trainer.fit(batches)
some = next(iter(task.batches(source, target, "valid")))
with torch.no_grad():
    logits = model(some.src, some.src_lengths, some.tgt_in).logits
torch.save([logits, history.step_losses], sys.argv[2] + str(trainer.accelerator.process_index))
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_a_recipe_on_two_processes_equals_the_one_on_one(tmp_path):
    """At the same global batch, although the words of the two halves differ in length.

    What the models say is compared: a bias of the keys changes nothing there, so rounding moves it.
    """
    one, two = in_processes(A_RECIPE, tmp_path / "two")
    (alone,) = in_processes(A_RECIPE, tmp_path / "one", count=1)
    assert len(one[1]) == len(two[1]) == len(alone[1]) == 20 and one[1] != two[1]
    assert torch.equal(one[0], two[0])
    torch.testing.assert_close(one[0], alone[0], rtol=1e-3, atol=1e-4)
